import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: rotation, lost answers, other processes") struct RotationConformanceTests {
    @Test("C18: whoever sees the new token can rely on its record being stored") func durableBeforeVisible()
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
        // The new tokens are here and are not stored yet: nobody has them.
        #expect(app.backend.refreshCalls == 1)
        #expect(app.tokens.freshCredential() == nil && app.tokens.state == before)
        #expect(app.backend.calls(to: "/me") == 1)
        gated.gate.open()

        #expect(await call.isSuccess)
        // The process dies here; the next one finds what the waiters had.
        let next = App(app.backend, store: store)
        #expect(await next.call().isSuccess)
        #expect(app.backend.refreshCalls == 1 && app.backend.reuseDetected == 0)
    }

    @Test("C21: an answer that was lost within the server's grace is asked for again with the same token")
    func lostAnswerWithinGrace() async throws {
        let app = try await App.signedIn(policy: .graceful)
        app.backend.invalidateAccessTokens()
        app.backend.state.withLock { $0.grantsGrace = true }
        app.backend.loseAnswers(1)
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

    @Test("C21: an answer that does not come is asked for again before the grace is over") func slowAnswerWithinGrace()
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
        app.backend.loseAnswers(1)

        guard case .refreshFailed(_, let failure, _) = await app.call().error else {
            Issue.record("the lost answer was not reported")
            return
        }
        #expect(failure.mayHaveSpentToken)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C22: after a death between sending and storing, the next start recovers within the grace")
    func deathWithinGrace() async throws {
        let (backend, store) = try await diesWhileRefreshing()
        backend.state.withLock { $0.grantsGrace = true }

        let app = App(backend, store: store, policy: .graceful)
        let events = app.tokens.events
        #expect(await app.call().isSuccess)
        #expect(backend.reuseDetected == 0)
        let stamp = try #require(await store.record?.stamp)
        #expect(await events.first { if case .refreshWasCutShort = $0 { true } else { false } } != nil)
        #expect(stamp.rotation == 1)
    }

    @Test("C22: after a death between sending and storing, a refusal is called what it is") func deathAfterGrace()
        async throws
    {
        let (backend, store) = try await diesWhileRefreshing()

        let app = App(backend, store: store)
        #expect(await app.call().error != nil)
        #expect(app.tokens.state == .expired(.rotationLost))
        #expect(await store.read() == .empty)
    }

    @Test("C24: what another process has renewed is adopted, without a call to the server") func adoption() async throws
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
        #expect(try await other.tokens.validToken() == one.tokens.validToken())
    }

    @Test("C25: a refused token is no end where the store has a newer one") func refusedButRenewed() async throws {
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
        // Another process has taken the lock over and is faster: its pair is the one that counts.
        backend.beforeRefresh(nil)
        guard var record = await shared.record else { return #expect(Bool(false), "nothing is stored") }
        record.bundle = backend.issue()
        record.rotation += 1
        record.journal = nil
        await shared.write(record)
        gate.open()

        #expect(await call.isSuccess)
        #expect(app.tokens.state.isSignedIn)
        #expect(await shared.record == record)
        #expect(try await app.tokens.validToken() == record.bundle.accessToken)
    }

    /// A session whose process has died between sending its refresh token and storing the successor.
    private func diesWhileRefreshing() async throws -> (SimulatedBackend, InMemoryTokenStore) {
        let backend = SimulatedBackend()
        let durable = InMemoryTokenStore()
        let gated = GatedStore(durable)
        let app = try await App.signedIn(backend, store: gated)
        backend.invalidateAccessTokens()
        gated.hold { $0.rotation == 1 }
        let call = Task { await app.call() }
        await gated.gate.waitForArrivals()
        // What is written from here on is written by a dead process.
        gated.kill()
        gated.gate.open()
        _ = await call.value
        #expect(await durable.record?.doubt != nil)
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

/// Passes everything on, but for the records that it is to hold back, or whose process is said to be dead.
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

    /// Holds records back until the gate is opened.
    func hold(_ holds: @escaping @Sendable (StoredSession) -> Bool) {
        state.withLock { $0.holds = holds }
    }

    /// Nothing reaches the disk any more.
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
