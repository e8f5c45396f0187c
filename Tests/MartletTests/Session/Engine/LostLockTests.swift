import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A refresh that loses its lock", .timeLimit(.minutes(10))) struct LostLockTests {
    @Test(
        "its refresh token is stored as in doubt, so that a later rejection is reported as rotationLost")
    func stoppedAfterSending() async throws {
        let store = SharedStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        app.backend.afterRefresh { _ in
            store.isLockLost = true
            return nil
        }
        #expect(await app.call().isSuccess)
        #expect(try await store.record?.unresolvedJournal != nil)

        // The other process has sent the same token, and the server has ended the session.
        store.isLockLost = false
        app.backend.afterRefresh(nil)
        app.backend.revokeSession()
        app.backend.invalidateAccessTokens()
        let other = App(app.backend, store: store)
        #expect(await other.call().error != nil)
        #expect(other.tokens.state == .expired(.rotationLost))
    }

    @Test("its tokens are no longer in doubt after the server has accepted them") func nothingLost() async throws {
        let store = SharedStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        app.backend.afterRefresh { _ in
            store.isLockLost = true
            return nil
        }
        #expect(await app.call().isSuccess)
        store.isLockLost = false
        app.backend.afterRefresh(nil)
        app.backend.invalidateAccessTokens()
        #expect(await app.call().isSuccess)
        let record = try await store.record
        #expect(record?.rotation == 2 && record?.journal == nil)
    }

    @Test(
        "C89: a refusal that arrives after the lock was lost is confirmed only with the lock", arguments: [true, false])
    func refusedWithoutLock(otherHasRefreshed: Bool) async throws {
        let store = SharedStore()
        let app = try await App.signedIn(store: store)
        let before = try #require(try await store.record)
        let fresh = before.renewed(rotation: 1, app.backend.issue())
        app.backend.beforeRefresh { _ in
            store.isLockLost = true
            // By the time this process has the lock again, the other one has stored its result, or has died.
            store.beforeAcquiring {
                if otherHasRefreshed { await store.put(fresh) }
                store.isLockLost = false
            }
            return .json(#"{"error":"invalid_grant"}"#, status: 401)
        }
        app.backend.invalidateAccessTokens()
        let refresh = Task { try await app.tokens.refresh() }
        if otherHasRefreshed {
            _ = try await refresh.value
            #expect(app.tokens.currentTokens?.accessToken == fresh.tokens.accessToken)
            #expect(try await store.record?.hasTokens(of: fresh) == true)
            #expect(app.backend.revoked.isEmpty)
        } else {
            await #expect(throws: SessionError.self) { try await refresh.value }
            #expect(try await store.record == nil)
            // The process that has taken the lock may have sent the same token.
            #expect(app.tokens.state == .expired(.rotationLost))
        }
        #expect(store.log.lines.filter { $0 == "deleted" }.count == (otherHasRefreshed ? 0 : 1))
    }

    @Test("C89: a refusal is not confirmed if the lock cannot be acquired again") func lockGone() async throws {
        let store = SharedStore()
        let app = try await App.signedIn(store: store)
        app.backend.beforeRefresh { _ in
            store.isLockLost = true
            store.beforeAcquiring { throw StorageError(.unreachable, "too many open files") }
            return .json(#"{"error":"invalid_grant"}"#, status: 401)
        }
        app.backend.invalidateAccessTokens()
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(app.tokens.state.isSignedIn)
        #expect(try await store.record != nil)
    }

    @Test("a session that cannot be refreshed ends although the lock never works") func brokenLock() async throws {
        let (store, backend) = (SharedStore(), SimulatedBackend())
        let app = App(backend, store: store)
        try await app.tokens.signIn(with: Tokens(accessToken: backend.issue().accessToken, refreshToken: nil))
        store.beforeAcquiring { throw StorageError(.unreachable, "permission denied") }
        backend.invalidateAccessTokens()
        guard case .sessionExpired = await app.call().error else {
            Issue.record("\(app.tokens.state)")
            return
        }
        #expect(app.tokens.state == .expired(.noRefreshToken))
        #expect(try await store.record == nil)
    }

    @Test("C89: a refusal is not confirmed by a store that cannot be read, or does not answer, without the lock")
    func unreadable() throws {
        let record = StoredSession(id: SessionID(), tokens: .fresh(1))
        var machine = SessionStateMachine.restored(record, sharesStore: true)
        _ = machine.refreshForced(by: 1, at: .zero)
        let started = machine.takeRefresh()
        let job = try #require(started)
        #expect(machine.answer(preparing: job, .found(record)) == .send)
        _ = machine.refreshFinished(job, .terminal(.refreshTokenRejected(code: nil)), at: .zero, jitter: 0)
        let failure = StorageError(.locked, "locked")
        let withoutLock = machine.decide(
            .confirmExpiry, over: .unavailable(failure), hasLostLock: true, at: SessionStateMachine.wallClock)
        for decision in [withoutLock, machine.undecided(.confirmExpiry)] {
            machine.storeAnswered(
                .confirmExpiry,
                .init(decision: decision, snapshot: .init(reading: .unavailable(failure)), failure: failure),
                at: .test())
            #expect(machine.isConfirmingExpiry(of: job) && !machine.isEnding)
        }
        // The transaction was reported as failed, and has ended the session after all.
        let late = machine.decide(
            .confirmExpiry, over: .found(record), hasLostLock: false, at: SessionStateMachine.wallClock)
        guard case .end(let mark) = late.update else {
            Issue.record("\(late.update)")
            return
        }
        machine.storeAnsweredLate(.confirmExpiry, late, .init(reading: .ended(mark)))
        #expect(machine.visibleState(at: .zero) == .expired(.refreshTokenRejected(code: nil)))
    }

    @Test("newer tokens stay in doubt after a refusal, although this process has the lock again") func lockIsBack()
        throws
    {
        let ada = StoredSession(id: SessionID(), generation: 1, tokens: .fresh(1))
        var machine = SessionStateMachine.restored(ada, sharesStore: true)
        machine.tokenRejected(ada.stamp, at: .zero)
        let started = machine.takeRefresh()
        let job = try #require(started)
        _ = machine.answer(preparing: job, .found(ada))
        machine.lockChecked(job, isHeld: true)
        _ = machine.refreshFinished(job, .terminal(.refreshTokenRejected(code: nil)), at: .zero, jitter: 1)
        let decision = machine.decide(.confirmExpiry, over: .found(ada), hasLostLock: true, at: .distantPast)
        #expect(decision.update == .keep)
        machine.storeAnswered(
            .confirmExpiry, .init(decision: decision, snapshot: .init(reading: .found(ada))), at: .test())
        // The other process has sent the same token, and stores the next one without having lost the lock.
        let newer = ada.renewed(rotation: 1, .fresh(2))
        guard case .write(let doubtful) = machine.answer(.confirmExpiry, .found(newer)) else {
            Issue.record("the doubt was not stored")
            return
        }
        #expect(doubtful.id == newer.id && doubtful.rotation == 1 && doubtful.unresolvedJournal != nil)
        #expect(machine.currentRecord?.unresolvedJournal != nil)
    }

    @Test("a refresh whose lock is lost again and again gives up") func alwaysLost() async throws {
        let store = SharedStore()
        let app = try await App.signedIn(store: store)
        store.isLockLost = true
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(app.backend.refreshCalls == 0)
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("a sign-out during a refresh deletes the record before another process can acquire the lock")
    func signOutWhileStoring() async throws {
        let (store, gate) = (SharedStore(), Gate())
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        app.backend.afterRefresh { _ in
            store.holdWrites(at: gate)
            return nil
        }
        async let call = app.call()
        await gate.waitForArrivals()
        let signOut = Task { await app.tokens.signOut() }
        while app.tokens.state != .signedOut { await Task.yield() }
        gate.open()
        await signOut.value
        _ = await call
        while store.log.lines.count < 2 { await Task.yield() }
        #expect(store.log.lines == ["deleted", "released"])
    }

    @Test("it leaves the journal in the store, on which another process may rely") func otherJournal() {
        var record = StoredSession(id: SessionID(), tokens: .fresh(1))
        let machine = SessionStateMachine.restored(record, sharesStore: true)
        record.journal = RefreshJournal(of: record, sentAt: SessionStateMachine.wallClock)
        for hasLostLock in [true, false] {
            let decision = machine.decide(
                .clearJournal(record), over: .found(record), hasLostLock: hasLostLock,
                at: SessionStateMachine.wallClock)
            #expect((decision.update == .keep) == hasLostLock)
        }
    }

    @Test(
        "tokens that arrive after the time limit are in doubt, because the lock was released")
    func lateTokens() async throws {
        let (store, time, gate) = (SharedStore(), ManualTimeSource(), Gate())
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { _, _ in
                // In its own task, so that cancelling the refresh does not reach it.
                await Task.detached { await gate.pass() }.value
                return Tokens(accessToken: "late", refreshToken: "late-refresh")
            }, transport: SimulatedBackend().transport, time: time)
        try await tokens.signIn(with: Tokens(accessToken: "first", refreshToken: "first-refresh"))
        let refresh = Task { try await tokens.refresh() }
        await gate.waitForArrivals()
        time.advance(by: SessionPolicy().attemptTimeout)
        await #expect(throws: SessionError.self) { try await refresh.value }

        var events = tokens.events.makeAsyncIterator()
        gate.open()
        while let event = await events.next() {
            if case .refreshSucceeded = event { break }
        }
        let record = try #require(await store.record)
        #expect(record.rotation == 1 && record.unresolvedJournal != nil)
    }
}

/// A shared store whose lock can be lost.
private final class SharedStore: TokenStore {
    private struct Lock: StoreLock, HeldStoreLock {
        let store: SharedStore

        func acquire(lease: Duration) async throws -> any HeldStoreLock {
            try await store.acquiring.withLock { $0 }?()
            return self
        }
        var isHeld: Bool { !store.isLockLost }
        func release() { store.log.add("released") }
    }

    /// The deletions, and the releases of the lock.
    let log = Log()
    private let inner = InMemoryTokenStore()
    private let state = Locked(false)
    private let gate = Locked<Gate?>(nil)

    fileprivate let acquiring = Locked<(@Sendable () async throws -> Void)?>(nil)

    /// Runs a closure each time the lock is acquired from now on.
    func beforeAcquiring(_ action: @escaping @Sendable () async throws -> Void) { acquiring.withLock { $0 = action } }

    /// Writes a record, as another process would.
    func put(_ record: StoredSession) async { await inner.write(record) }

    func holdWrites(at gate: Gate) { self.gate.withLock { $0 = gate } }

    var isLockLost: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    var record: StoredSession? {
        get async throws {
            guard case .found(let record) = await inner.read() else { return nil }
            return record
        }
    }

    var refreshLock: (any StoreLock)? { Lock(store: self) }
    func read() async -> StoreReading { await inner.read() }

    func write(_ session: StoredSession) async throws {
        await gate.withLock { $0 }?.pass()
        await inner.write(session)
    }

    func delete() async throws {
        for _ in 0..<100 { await Task.yield() }
        await inner.delete()
        log.add("deleted")
    }
}
