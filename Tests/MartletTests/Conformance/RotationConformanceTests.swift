import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: rotation, lost responses, other processes", .timeLimit(.minutes(10)))
struct RotationConformanceTests {
    @Test(
        "a response that has arrived when the device wakes counts, even if the time limit passed in its sleep",
        arguments: [31, 3600])
    func responseAfterSleep(seconds: Int) async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let refresh = Task { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        app.time.advance(by: .seconds(seconds))
        for _ in 0..<50 { await Task.yield() }
        gate.open()
        _ = try await refresh.value
        #expect(app.backend.refreshCalls == 1)
        #expect(app.tokens.currentTokens?.accessToken == "access-2")
    }

    @Test(
        "tokens whose response waited unread while the device slept are as old as their request",
        arguments: [false, true])
    func ageAfterSleep(hasDate: Bool) async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        let expiry = Int(app.time.wallClock.timeIntervalSince1970) + 3600
        app.backend.afterRefresh { _ in
            await gate.pass()
            return hasDate
                ? .json(#"{"accessToken":"access-2","refreshToken":"refresh-2","expires_at":\#(expiry)}"#) : nil
        }
        let refresh = Task { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        app.time.advance(by: .seconds(3000))
        for _ in 0..<50 { await Task.yield() }
        app.backend.afterRefresh(nil)
        gate.open()
        _ = try await refresh.value
        #expect(app.tokens.currentTokens?.accessToken == "access-2")
        app.time.advance(by: .seconds(500))
        #expect(await app.call().isSuccess)
        // 3600 s after they were issued, although only 600 s after they were received.
        app.time.advance(by: .seconds(100))
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-2", "access-3"])
    }

    @Test("a response that does not arrive when the device has woken is a time-out") func noResponseAfterSleep()
        async throws
    {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let refresh = Task { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        let isOver = Locked(false)
        let clock = Task { [time = app.time] in
            time.advance(by: .seconds(3600))
            while !isOver.withLock({ $0 }) {
                time.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        await #expect(throws: SessionError.self) { try await refresh.value }
        isOver.withLock { $0 = true }
        await clock.value
        gate.open()
    }

    @Test("C88: a token that has expired while it was being saved is not handed out", arguments: [false, true])
    func expiredWhileSaving(replacesRejected: Bool) async throws {
        let gated = GatedStore(InMemoryTokenStore())
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = 3 }
        let app = try await App.signedIn(backend, store: gated)
        gated.hold { $0.rotation == 1 && $0.journal == nil }
        let token: Task<Secret, any Error>
        if replacesRejected {
            let (tokens, stamp) = (app.tokens, app.tokens.inspect { $0.machine.currentRecord?.stamp })
            let rejected = try #require(stamp)
            token = Task { try await tokens.credential(replacing: rejected).get().accessToken }
        } else {
            app.time.advance(by: .seconds(4))
            token = Task { try await app.tokens.validTokens().accessToken }
        }
        await gated.gate.waitForArrivals()
        app.time.advance(by: .seconds(5))
        gated.gate.open()
        #expect(try await token.value == "access-3")
        #expect(backend.refreshCalls == 2)
    }

    @Test("C88: a caller whose tokens expire again and again before it gets them is told so") func expiringTooFast()
        async throws
    {
        let store = FailingTokenStore()
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = 3 }
        let app = try await App.signedIn(backend, store: store)
        app.time.advance(by: .seconds(4))
        store.delay(.write, by: .seconds(5), on: app.time)
        let token = Task { try await app.tokens.validTokens() }
        let clock = Task {
            while !Task.isCancelled {
                app.time.advanceToNextSleeper()
                await Task.yield()
            }
        }
        let error = await #expect(throws: SessionError.self) { try await token.value }
        clock.cancel()
        guard case .refreshFailed(let failure) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.kind == .timedOut)
        #expect(app.tokens.state.isSignedIn)
    }

    @Test(
        "C88: the life of a sign-in's token begins when its response arrives, whatever clock the client has",
        arguments: [false, true])
    func slowSignIn(hasOwnClock: Bool) async throws {
        /// Takes two seconds to process each response.
        struct Slow: RequestInterceptor {
            let clocks: [ManualTimeSource]
            func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
                for clock in clocks { clock.advance(by: .seconds(2)) }
                return response
            }
        }
        let (time, other) = (ManualTimeSource(), ManualTimeSource())
        other.advance(by: .seconds(500))
        let app = App(time: time) { config in
            config.interceptors = [Slow(clocks: [time, other])]
            if hasOwnClock { config.time = other }
        }
        app.backend.beforeCall { _ in .json(#"{"accessToken":"a","refreshToken":"r","expiresIn":10}"#) }
        try await app.client.signIn(Get("/login", .none), as: NoContent.self)
        let tokens = try #require(app.tokens.currentTokens)
        #expect(tokens.expiresAt == time.wallClock.addingTimeInterval(8))
        time.advance(by: .seconds(8))
        await #expect(throws: SessionError.self) { try await app.tokens.validTokens() }
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C84: a caller that waits for a token while its user signs out is told that the session has changed")
    func signedOutWhileWaiting() async throws {
        let (app, gate) = (try await App.signedIn(), Gate())
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        app.time.advance(by: .seconds(3601))
        let token = Task { try await app.tokens.validTokens() }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        await #expect(throws: SessionError.sessionChanged) { try await token.value }
    }

    @Test("C18: a new token becomes visible only after its record is stored") func durableBeforeVisible()
        async throws
    {
        let store = InMemoryTokenStore()
        let gated = GatedStore(store)
        let app = try await App.signedIn(store: gated)
        app.backend.invalidateAccessTokens()
        gated.hold { $0.rotation == 1 && $0.journal == nil }
        let before = app.tokens.state

        async let call = app.call()
        await gated.gate.waitForArrivals()
        // The new tokens have arrived and are not stored yet, so no caller may have them.
        #expect(app.backend.refreshCalls == 1)
        #expect(app.tokens.beginCall(at: app.time.uptime).credential == nil && app.tokens.state == before)
        #expect(app.backend.calls(to: "/me") == 1)
        gated.gate.open()

        #expect(await call.isSuccess)
        // The process dies here. The next one finds the same tokens in the store.
        let next = App(app.backend, store: store)
        #expect(await next.call().isSuccess)
        #expect(app.backend.refreshCalls == 1 && app.backend.reuseDetected == 0)
    }

    @Test("C21: a response lost within the server's grace is requested again with the same token")
    func lostResponseWithinGrace() async throws {
        let app = try await App.signedIn(policy: .graceful)
        app.backend.invalidateAccessTokens()
        app.backend.state.withLock { $0.grantsGrace = true }
        app.backend.loseResponses(1)
        let events = app.tokens.events

        #expect(await app.call().isSuccess)
        #expect(app.backend.refreshCalls == 2 && app.backend.reuseDetected == 0)
        var seen = events.makeAsyncIterator()
        while let event = await seen.next() {
            if case .refreshReplayed(_, let failure) = event {
                #expect(failure.kind == .connection)
                break
            }
        }
    }

    @Test("C21: within the grace, a server that asks for a pause is not asked again at once") func pauseWithinGrace()
        async throws
    {
        let app = try await App.signedIn(policy: .graceful)
        app.backend.invalidateAccessTokens()
        app.backend.state.withLock { $0.grantsGrace = true }
        app.backend.afterRefresh { _ in .status(500, headers: [.retryAfter: "120"]) }
        #expect(await app.call().error != nil)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test(
        "C21: a response that does not arrive is requested again before the grace ends") func slowResponseWithinGrace()
        async throws
    {
        let app = try await App.signedIn(policy: .graceful)
        app.backend.invalidateAccessTokens()
        app.backend.state.withLock { $0.grantsGrace = true }
        let gate = Gate()
        app.backend.afterRefresh { _ in
            if gate.arrivals == 0 { await gate.pass() }
            return nil
        }
        async let call = app.call()
        await gate.waitForArrivals()
        app.time.advance(by: SessionPolicy.graceful.attemptTimeout)
        #expect(await call.isSuccess)
        #expect(app.time.uptime < SessionPolicy.graceful.rotationGrace)
        #expect(app.backend.refreshCalls == 2 && app.backend.reuseDetected == 0)
        gate.open()
    }

    @Test("without a declared grace, a token that may be spent is not sent again at once") func noGrace() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.loseResponses(1)

        guard case .refreshFailed(_, let failure, _) = await app.call().error else {
            Issue.record("the lost response was not reported")
            return
        }
        #expect(failure.mayHaveSpentToken)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C22: after a crash between sending and storing, the next launch recovers within the grace")
    func deathWithinGrace() async throws {
        let (backend, store) = try await diesWhileRefreshing()
        backend.state.withLock { $0.grantsGrace = true }

        let app = App(backend, store: store, policy: .graceful)
        let events = app.tokens.events
        #expect(await app.call().isSuccess)
        #expect(backend.reuseDetected == 0)
        let stamp = try #require(await store.record?.stamp)
        #expect(await events.first { if case .refreshInterrupted = $0 { true } else { false } } != nil)
        #expect(stamp.rotation == 1)
    }

    @Test(
        "C22: after a crash between sending and storing, a rejection is reported as rotationLost")
    func deathAfterGrace()
        async throws
    {
        let (backend, store) = try await diesWhileRefreshing()

        let app = App(backend, store: store)
        #expect(await app.call().error != nil)
        #expect(app.tokens.state == .expired(.rotationLost))
        #expect(await store.read().isEmpty)
    }

    @Test(
        "C24: tokens renewed by another process are adopted without a request to the server") func adoption()
        async throws
    {
        let shared = InMemoryTokenStore()
        let backend = SimulatedBackend()
        let one = try await App.signedIn(backend, store: shared)
        let other = App(backend, store: shared)
        #expect(await other.call().isSuccess)
        backend.invalidateAccessTokens()
        #expect(await one.call().isSuccess)
        #expect(backend.refreshCalls == 1)

        #expect(await other.call().isSuccess)
        #expect(backend.refreshCalls == 1 && backend.reuseDetected == 0)
        #expect(try await other.tokens.validTokens().accessToken == one.tokens.validTokens().accessToken)
    }

    @Test(
        "C25: a rejected token does not end the session if the store has a newer one") func refusedButRenewed()
        async throws
    {
        let shared = InMemoryTokenStore()
        let backend = SimulatedBackend()
        let app = try await App.signedIn(backend, store: shared)
        backend.invalidateAccessTokens()
        let gate = Gate()
        backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        async let call = app.call()
        await gate.waitForArrivals()
        // Another process took over the lock and was faster, so its pair of tokens is the current one.
        backend.beforeRefresh(nil)
        guard var record = await shared.record else { return #expect(Bool(false), "nothing is stored") }
        record.tokens = backend.issue()
        record.rotation += 1
        record.journal = nil
        await shared.write(record)
        gate.open()

        #expect(await call.isSuccess)
        #expect(app.tokens.state.isSignedIn)
        #expect(await shared.record == record)
        #expect(try await app.tokens.validTokens().accessToken == record.tokens.accessToken)
    }

    /// A session whose process died between sending its refresh token and storing the successor.
    private func diesWhileRefreshing() async throws -> (SimulatedBackend, InMemoryTokenStore) {
        let backend = SimulatedBackend()
        let durable = InMemoryTokenStore()
        let gated = GatedStore(durable)
        let app = try await App.signedIn(backend, store: gated)
        backend.invalidateAccessTokens()
        gated.hold { $0.rotation == 1 }
        let call = Task { await app.call() }
        await gated.gate.waitForArrivals()
        // From here on the process counts as dead, and its writes are dropped.
        gated.kill()
        gated.gate.open()
        _ = await call.value
        #expect(await durable.record?.unresolvedJournal != nil)
        return (backend, durable)
    }
}

extension SessionPolicy {
    fileprivate static var graceful: SessionPolicy {
        var policy = SessionPolicy()
        policy.rotationGrace = .seconds(30)
        return policy
    }
}

extension InMemoryTokenStore {
    fileprivate var record: StoredSession? {
        get async {
            guard case .found(let record) = await read() else { return nil }
            return record
        }
    }
}

/// Forwards to a store. It can hold writes at a gate, and drops them once its process counts as dead.
private final class GatedStore: TokenStore {
    private struct State {
        var holds: (@Sendable (StoredSession) -> Bool)?
        var isDead = false
    }

    let gate = Gate()
    private let inner: InMemoryTokenStore
    private let state = Locked(State())

    init(_ inner: InMemoryTokenStore) {
        self.inner = inner
    }

    /// Holds matching writes until the gate is opened.
    func hold(_ holds: @escaping @Sendable (StoredSession) -> Bool) {
        state.withLock { $0.holds = holds }
    }

    /// Drops all later writes.
    func kill() {
        state.withLock { $0.isDead = true }
    }

    func read() async -> StoreReading { await inner.read() }

    func write(_ session: StoredSession) async throws {
        if state.withLock({ $0.holds })?(session) == true { await gate.pass() }
        guard !state.withLock({ $0.isDead }) else { return }
        await inner.write(session)
    }

    func delete() async throws {
        guard !state.withLock({ $0.isDead }) else { return }
        await inner.delete()
    }
}
