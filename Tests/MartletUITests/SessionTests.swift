import Martlet
import MartletTesting
import Testing

@testable import MartletUI

@MainActor @Suite("The session model", .english, .timeLimit(.minutes(10))) struct SessionTests {
    @Test("without a stored session, the splash is followed by the login", arguments: ModelVariant.allCases)
    func nothingStored(variant: ModelVariant) async throws {
        let backend = Backend()
        let model = try variant.session(SessionSource(backend.tokens))
        #expect(model.status.route == .loading)
        try await running(model) {
            await waitUntil { model.status.route != .loading }
            #expect(model.status.route == .login)
        }
        #expect(backend.transport.requests.isEmpty)
    }

    @Test("a valid stored session shows the content without a request", arguments: ModelVariant.allCases)
    func stored(variant: ModelVariant) async throws {
        let time = ManualTimeSource()
        let record = StoredSession.fresh(at: time.wallClock)
        let backend = Backend(store: .inMemory(holding: record), time: time)
        let model = try variant.session(SessionSource(backend.tokens))
        try await running(model) {
            await waitUntil { model.status.route != .loading }
            #expect(model.status.route == .content(SignedInSession(id: record.id, account: record.account)))
        }
        #expect(backend.transport.requests.isEmpty)
    }

    @Test("the splash stays while an expired token is refreshed", arguments: ModelVariant.allCases)
    func renewed(variant: ModelVariant) async throws {
        let gate = Gate()
        let backend = Backend.withExpiredToken { _ in
            await gate.pass()
            return nil
        }
        let model = try variant.session(SessionSource(backend.tokens))
        try await running(model) {
            await gate.waitForArrivals()
            for _ in 0..<100 { await Task.yield() }
            #expect(model.status.route == .loading)
            gate.open()
            await waitUntil { model.status.route != .loading }
            guard case .content = model.status.route else {
                Issue.record("the route is \(model.status.route) instead of the content")
                return
            }
        }
        #expect(backend.refreshes == 1)
    }

    @Test("a session that the server has ended requires a new sign-in at launch, without showing content before")
    func refusedAtStart() async {
        let backend = Backend.withExpiredToken { _ in .status(401) }
        let core = SessionCore(SessionSource(backend.tokens), patience: .seconds(3), time: backend.time)
        var routes: [SessionRoute] = []
        core.onChange = { routes.append($0.route) }
        let run = Task { await core.run() }
        await waitUntil { routes.contains { $0 != .loading } }
        run.cancel()
        await run.value
        #expect(Set(routes).subtracting([.loading]) == [.signInAgain(.refreshTokenRejected(code: nil))])
        #expect(core.status.session == nil)
        #expect(core.status.shownSession(showsExpiredContent: true) == nil)
        #expect(core.status.route.message == "Your session is no longer valid. Sign in again to continue.")
    }

    @Test("the splash waits for a limited time, and then shows the stored session", arguments: ModelVariant.allCases)
    func patience(variant: ModelVariant) async throws {
        let gate = Gate()
        let backend = Backend.withExpiredToken { _ in
            await gate.pass()
            return nil
        }
        let clock = ManualTimeSource()
        let model = try variant.session(SessionSource(backend.tokens), patience: .seconds(3), time: clock)
        try await running(model) {
            await gate.waitForArrivals()
            await waitUntil { clock.sleeperCount == 1 && backend.tokens.state.isSignedIn }
            clock.advance(by: .milliseconds(2999))
            for _ in 0..<100 { await Task.yield() }
            #expect(model.status.route == .loading)
            clock.advance(by: .milliseconds(1))
            await waitUntil { model.status.route != .loading }
            guard case .content = model.status.route else {
                Issue.record("the route is \(model.status.route) instead of the content")
                return
            }
            gate.open()
        }
    }

    @Test(
        "a session ended by the server requires a new sign-in, and its account is kept",
        arguments: ModelVariant.allCases)
    func expires(variant: ModelVariant) async throws {
        let time = ManualTimeSource()
        let record = StoredSession.fresh(at: time.wallClock)
        let backend = Backend(store: .inMemory(holding: record), time: time) { _ in .status(401) }
        let model = try variant.session(SessionSource(backend.tokens))
        try await running(model) {
            await waitUntil { model.status.route != .loading }
            _ = try? await backend.client.data(for: Call<NoContent>.get("/me"))
            await waitUntil { model.status.route.message != nil }
            #expect(model.status.route == .signInAgain(.refreshTokenRejected(code: nil)))
            #expect(model.status.session?.id == record.id)
            #expect(model.status.shownSession(showsExpiredContent: true)?.id == record.id)
            #expect(model.status.shownSession(showsExpiredContent: false) == nil)
            #expect(model.status.endReason != nil)

            let next = try await backend.tokens.signIn(with: .fresh(9))
            await waitUntil { model.status.route == .content(next) }
            #expect(model.status.session == next)
        }
    }

    @Test("signing out shows the login", arguments: ModelVariant.allCases)
    func signOut(variant: ModelVariant) async throws {
        let time = ManualTimeSource()
        let store = AnyTokenStore.inMemory(holding: .fresh(at: time.wallClock))
        let backend = Backend(store: store, time: time)
        let model = try variant.session(SessionSource(backend.tokens))
        try await running(model) {
            await waitUntil { model.status.session != nil }
            await model.signOut().value
            #expect(model.status.route == .login)
            #expect(model.status.session == nil)
        }
        #expect(await store.read() == .empty)
    }

    @Test("a store that cannot be read shows no login and can be retried", arguments: ModelVariant.allCases)
    func unavailable(variant: ModelVariant) async throws {
        let time = ManualTimeSource()
        let store = ClosedStore(.fresh(at: time.wallClock))
        let backend = Backend(store: store, time: time)
        let model = try variant.session(SessionSource(backend.tokens))
        try await running(model) {
            await waitUntil { model.status.route != .loading }
            #expect(model.status.route.message == "Unlock this device to continue.")
            store.open()
            await model.retry().value
            await waitUntil { model.status.shownSession(showsExpiredContent: false) != nil }
            #expect(model.status.route.message == nil)
        }
    }

    @Test("a stopped model can be run again", arguments: ModelVariant.allCases)
    func again(variant: ModelVariant) async throws {
        let backend = Backend()
        let model = try variant.session(SessionSource(backend.tokens))
        try await running(model) { await waitUntil { model.status.route == .login } }
        let session = try await backend.tokens.signIn(with: .fresh())
        #expect(model.status.route == .login)
        try await running(model) { await waitUntil { model.status.route == .content(session) } }
    }

    @Test("a fixed state suffices for a preview", arguments: ModelVariant.allCases) func fixed(variant: ModelVariant)
        async throws
    {
        let session = SignedInSession(id: SessionID())
        let model = try variant.session(SessionSource(state: { .signedIn(session) }))
        await model.run()
        #expect(model.status.route == .content(session))
    }

    private func running(_ model: any SessionRouting, _ test: () async throws -> Void) async throws {
        let run = Task { await model.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await test()) } catch { result = .failure(error) }
        run.cancel()
        await run.value
        try result.get()
    }
}

extension Backend {
    /// An app whose token expired while it was not running.
    fileprivate static func withExpiredToken(
        response: @escaping @Sendable (StubTransport.Request) async throws -> StubTransport.Response?
    ) -> Backend {
        let time = ManualTimeSource()
        return Backend(store: .inMemory(holding: .expired(at: time.wallClock)), time: time, response: response)
    }
}

/// A store that is locked until it is opened.
private final class ClosedStore: TokenStore {
    private let inner: AnyTokenStore
    private let isOpen = Locked(false)

    init(_ record: StoredSession) { inner = AnyTokenStore.inMemory(holding: record) }

    func open() { isOpen.withLock { $0 = true } }

    func read() async -> StoreReading {
        isOpen.withLock({ $0 }) ? await inner.read() : .unavailable(StorageError(.locked, "the keyring is locked"))
    }

    func write(_ session: StoredSession) async throws { try await inner.write(session) }
    func delete() async throws { try await inner.delete() }
}
