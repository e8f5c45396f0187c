import Martlet
import MartletTesting
import Testing

@testable import MartletUI

@MainActor @Suite("A session's model") struct SessionTests {
    @Test("with nothing stored, the splash gives way to the login", arguments: Face.allCases)
    func nothingStored(face: Face) async throws {
        let backend = Backend()
        let model = try face.session(SessionSource(backend.tokens))
        #expect(model.status.route == .loading)
        try await running(model) {
            await waitUntil { model.status.route != .loading }
            #expect(model.status.route == .login)
        }
        #expect(backend.transport.requests.isEmpty)
    }

    @Test("a stored session that is good leads to the content, without a call", arguments: Face.allCases)
    func stored(face: Face) async throws {
        let time = ManualTimeSource()
        let record = StoredSession.fresh(at: time.wallClock)
        let backend = Backend(store: InMemoryTokenStore(record), time: time)
        let model = try face.session(SessionSource(backend.tokens))
        try await running(model) {
            await waitUntil { model.status.route != .loading }
            #expect(model.status.route == .content(SignedInSession(id: record.id, account: record.account)))
        }
        #expect(backend.transport.requests.isEmpty)
    }

    @Test("the splash stays while an expired token is renewed", arguments: Face.allCases)
    func renewed(face: Face) async throws {
        let gate = Gate()
        let backend = Backend.withExpiredToken { _ in
            await gate.pass()
            return nil
        }
        let model = try face.session(SessionSource(backend.tokens))
        try await running(model) {
            await gate.waitForArrivals()
            for _ in 0..<100 { await Task.yield() }
            #expect(model.status.route == .loading)
            gate.open()
            await waitUntil { model.status.route != .loading }
            guard case .content = model.status.route else {
                Issue.record("the content should be there, not \(model.status.route)")
                return
            }
        }
        #expect(backend.refreshes == 1)
    }

    @Test("a session that the server has ended asks for a login at the start, and shows no content before")
    func refusedAtStart() async {
        let backend = Backend.withExpiredToken { _ in .status(401) }
        let core = SessionCore(SessionSource(backend.tokens), patience: .seconds(3), time: backend.time)
        var routes: [SessionRoute] = []
        core.changed = { routes.append($0.route) }
        let run = Task { await core.run() }
        await waitUntil { routes.contains { $0 != .loading } }
        run.cancel()
        await run.value
        #expect(Set(routes).subtracting([.loading]) == [.signInAgain(.refreshTokenRejected(code: nil))])
        #expect(core.status.session == nil)
        #expect(core.status.shownSession == nil)
        #expect(core.status.route.message == "Your session is not valid any more. Sign in again to go on.")
    }

    @Test("the splash has patience for some seconds; then what is stored is believed", arguments: Face.allCases)
    func patience(face: Face) async throws {
        let gate = Gate()
        let backend = Backend.withExpiredToken { _ in
            await gate.pass()
            return nil
        }
        let clock = ManualTimeSource()
        let model = try face.session(SessionSource(backend.tokens), patience: .seconds(3), time: clock)
        try await running(model) {
            await gate.waitForArrivals()
            await waitUntil { clock.sleeperCount == 1 && backend.tokens.state.isSignedIn }
            clock.advance(by: .milliseconds(2999))
            for _ in 0..<100 { await Task.yield() }
            #expect(model.status.route == .loading)
            clock.advance(by: .milliseconds(1))
            await waitUntil { model.status.route != .loading }
            guard case .content = model.status.route else {
                Issue.record("the content should be there, not \(model.status.route)")
                return
            }
            gate.open()
        }
    }

    @Test("a session that the server ends asks to sign in again, and remembers whose it was", arguments: Face.allCases)
    func expires(face: Face) async throws {
        let time = ManualTimeSource()
        let record = StoredSession.fresh(at: time.wallClock)
        let backend = Backend(store: InMemoryTokenStore(record), time: time) { _ in .status(401) }
        let model = try face.session(SessionSource(backend.tokens))
        try await running(model) {
            await waitUntil { model.status.route != .loading }
            _ = try? await backend.client.data(for: Call<Empty>.get("/me"))
            await waitUntil { model.status.route.message != nil }
            #expect(model.status.route == .signInAgain(.refreshTokenRejected(code: nil)))
            #expect(model.status.session?.id == record.id)
            #expect(model.status.shownSession?.id == record.id)
            #expect(model.status.endReason != nil)

            let next = try await backend.tokens.signIn(with: .fresh(9))
            await waitUntil { model.status.route == .content(next) }
            #expect(model.status.session == next)
        }
    }

    @Test("signing out leads to the login", arguments: Face.allCases)
    func signOut(face: Face) async throws {
        let time = ManualTimeSource()
        let store = InMemoryTokenStore(.fresh(at: time.wallClock))
        let backend = Backend(store: store, time: time)
        let model = try face.session(SessionSource(backend.tokens))
        try await running(model) {
            await waitUntil { model.status.session != nil }
            await model.signOut().value
            #expect(model.status.route == .login)
            #expect(model.status.session == nil)
        }
        #expect(await store.read() == .empty)
    }

    @Test("a store that cannot be read is no login, and can be tried again", arguments: Face.allCases)
    func unavailable(face: Face) async throws {
        let time = ManualTimeSource()
        let store = ClosedStore(.fresh(at: time.wallClock))
        let backend = Backend(store: store, time: time)
        let model = try face.session(SessionSource(backend.tokens))
        try await running(model) {
            await waitUntil { model.status.route != .loading }
            #expect(model.status.route.message == "Unlock this device to go on.")
            store.open()
            await model.retry().value
            await waitUntil { model.status.shownSession != nil }
            #expect(model.status.route.message == nil)
        }
    }

    @Test("a model that nobody looks at any more can be followed anew", arguments: Face.allCases)
    func again(face: Face) async throws {
        let backend = Backend()
        let model = try face.session(SessionSource(backend.tokens))
        try await running(model) { await waitUntil { model.status.route == .login } }
        let session = try await backend.tokens.signIn(with: .fresh())
        #expect(model.status.route == .login)
        try await running(model) { await waitUntil { model.status.route == .content(session) } }
    }

    @Test("a fixed state is enough for a preview", arguments: Face.allCases) func fixed(face: Face) async throws {
        let session = SignedInSession(id: SessionID())
        let model = try face.session(SessionSource(state: { .signedIn(session) }))
        await model.run()
        #expect(model.status.route == .content(session))
    }

    private func running(_ model: any SessionFace, _ test: () async throws -> Void) async throws {
        let run = Task { await model.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await test()) } catch { result = .failure(error) }
        run.cancel()
        await run.value
        try result.get()
    }
}

extension Backend {
    /// An app whose token has expired while it was not running.
    fileprivate static func withExpiredToken(
        answer: @escaping @Sendable (StubTransport.Request) async throws -> StubTransport.Answer?
    ) -> Backend {
        let time = ManualTimeSource()
        return Backend(store: InMemoryTokenStore(.expired(at: time.wallClock)), time: time, answer: answer)
    }
}

/// A store that is locked until it is opened.
private final class ClosedStore: TokenStore {
    private let inner: InMemoryTokenStore
    private let isOpen = Locked(false)

    init(_ record: StoredSession) { inner = InMemoryTokenStore(record) }

    func open() { isOpen.withLock { $0 = true } }

    func read() async -> StoreReading {
        isOpen.withLock({ $0 }) ? await inner.read() : .unavailable(StorageFailure(.locked, "the keyring is locked"))
    }

    func write(_ session: StoredSession) async { await inner.write(session) }
    func delete() async { await inner.delete() }
}
