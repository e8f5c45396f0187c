import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// A store whose operations wait at a gate after `hang()` was called, and whose lock waits at another gate.
private final class StuckStubStore: TokenStore {
    /// If reads prompt the user, none is repeated by itself, so that a test knows every sleeping task. Nor are changes
    /// noticed then.
    let prompts = Locked(true)
    var readingPromptsUser: Bool { prompts.withLock { $0 } }

    private struct StubLock: StoreLock {
        let store: StuckStubStore

        func acquire(lease: Duration) async throws -> any HeldStoreLock {
            store.acquired.withLock { $0 += 1 }
            await store.lockGate.withLock { $0 }?.pass()
            return Held(store: store)
        }
    }

    private struct Held: HeldStoreLock {
        let store: StuckStubStore

        var isHeld: Bool {
            store.lockChecks.withLock { $0 += 1 }
            return true
        }
        func isStillHeld() async -> Bool {
            await store.checkGate.withLock { $0 }?.pass()
            return isHeld
        }
        func release() { store.released.open() }
    }

    let gate = Locked<Gate?>(nil)
    let lockGate = Locked<Gate?>(nil)
    let checkGate = Locked<Gate?>(nil)
    let reads = Locked(0)
    let acquired = Locked(0)
    /// The number of checks whether the lock is still held.
    let lockChecks = Locked(0)
    let released = Gate()
    private let memory = InMemoryTokenStore()
    private let news = AsyncStream<Void>.makeStream()

    var refreshLock: (any StoreLock)? { StubLock(store: self) }
    func changes() -> AsyncStream<Void>? { news.stream }

    /// Reports a change to all listeners.
    func reportChange() { news.continuation.yield() }

    /// Makes all further operations wait at the returned gate.
    func hang() -> Gate {
        let gate = Gate()
        self.gate.withLock { $0 = gate }
        return gate
    }

    func read() async -> StoreReading {
        reads.withLock { $0 += 1 }
        await gate.withLock { $0 }?.pass()
        return await memory.read()
    }

    func write(_ session: StoredSession) async {
        await gate.withLock { $0 }?.pass()
        await memory.write(session)
    }

    func delete() async {
        await gate.withLock { $0 }?.pass()
        await memory.delete()
    }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        await gate.withLock { $0 }?.pass()
        return try await memory.update(decide)
    }
}

@Suite("A store that does not respond", .timeLimit(.minutes(10))) struct StuckStoreTests {
    private let store = StuckStubStore()
    private let time = ManualTimeSource()

    private func manager(time: (any TimeSource)? = nil) -> TokenManager {
        TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { _, _ in .fresh(2) }, transport: StubTransport { _ in .status(404) },
            time: time ?? self.time)
    }

    /// Advances time until a task has ended.
    private func passTime<Value>(until task: Task<Value, any Error>) async throws {
        _ = try await time.advance(by: SessionPolicy().storeTimeout) { await task.result }
    }

    @Test("the store is read once for all callers that timed out") func readsOnce() async throws {
        let gate = store.hang()
        let tokens = manager()
        for _ in 1...3 {
            let caller = Task { try await tokens.validTokens().accessToken }
            await gate.waitForArrivals()
            await time.waitForSleepers()
            time.advance(by: SessionPolicy().storeTimeout)
            await #expect(throws: SessionError.self) { try await caller.value }
        }
        let events = tokens.events
        gate.open()
        _ = await events.first { if case .restored = $0 { true } else { false } }
        await tokens.flushStore()
        #expect(store.reads.withLock { $0 } == 1)
    }

    @Test(
        "a sign-out reports the failure, and deletes the record when the store responds again")
    func signOut() async throws {
        store.prompts.withLock { $0 = false }
        let tokens = manager()
        try await tokens.signIn(with: .fresh(1))
        let events = tokens.events
        let gate = store.hang()
        store.reportChange()
        await gate.waitForArrivals()
        try await passTime(until: Task { await tokens.signOut() })
        // The failure has been reported by now.
        _ = await events.first { if case .storeDeleteFailed = $0 { true } else { false } }
        gate.open()
        await tokens.flushStore()
        #expect(await store.read().isEmpty)
    }

    @Test("a sign-out returns in time, although a user signs in while the store hangs") func signOutThenSignIn()
        async throws
    {
        let tokens = manager()
        try await tokens.signIn(with: .fresh(1))
        let gate = store.hang()
        let signOut = Task { await tokens.signOut() }
        await gate.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout - .seconds(1))
        let epoch = tokens.signInOwner.epoch
        let signIn = Task { try await tokens.signIn(with: .fresh(2)) }
        while tokens.signInOwner.epoch == epoch { await Task.yield() }
        time.advance(by: .seconds(1))
        await signOut.value
        gate.open()
        _ = try await signIn.value
        #expect(tokens.state.isSignedIn)
    }

    @Test(
        "a refresh whose lock does not arrive times out, and releases the lock when it arrives") func stuckLock()
        async throws
    {
        let tokens = manager()
        try await tokens.signIn(with: .fresh(1))
        let gate = Gate()
        store.lockGate.withLock { $0 = gate }
        let refresh = Task { try await tokens.refresh() }
        await gate.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().lockLease * 2 + SessionPolicy().storeTimeout)
        let error = await #expect(throws: SessionError.self) { try await refresh.value }
        guard case .refreshFailed? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(tokens.state.isSignedIn)
        gate.open()
        await store.released.pass()
        // The next refresh acquires the lock again.
        time.advance(by: .seconds(3600))
        try await tokens.refresh()
    }

    @Test("a refresh that times out in the store queue does not check its lock") func journalDelayed() async throws {
        store.prompts.withLock { $0 = false }
        let tokens = manager()
        try await tokens.signIn(with: .fresh(1))
        let gate = store.hang()
        store.reportChange()
        await gate.waitForArrivals()
        let refresh = Task { try await tokens.refresh() }
        try await passTime(until: refresh)
        await #expect(throws: SessionError.self) { try await refresh.value }
        #expect(store.lockChecks.withLock { $0 } == 0)
        gate.open()
    }

    @Test("while the result of a refresh is being written, its lock is not acquired again") func refreshTwice()
        async throws
    {
        let hanging = Gate()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { [store] _, _ in
                // Hang before the outcome is written.
                store.gate.withLock { $0 = hanging }
                return .fresh(2)
            }, transport: StubTransport { _ in .status(404) }, time: time)
        try await tokens.signIn(with: .fresh(1))
        let first = Task { try await tokens.refresh() }
        await hanging.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout)
        _ = try await first.value
        // The third one waits for the first one, too, although the second one has given up.
        for _ in 2...3 {
            time.advance(by: .seconds(600))
            let next = Task { try await tokens.refresh() }
            try await passTime(until: next)
            await #expect(throws: SessionError.self) { try await next.value }
            #expect(store.acquired.withLock { $0 } == 1)
        }
        hanging.open()
        await tokens.flushStore()
        #expect(await store.read() != .empty)
        time.advance(by: .seconds(600))
        try await tokens.refresh()
        #expect(store.acquired.withLock { $0 } == 2)
    }

    @Test("callers do not wait while the store hangs and an expiry must be confirmed") func hangingConfirmation()
        async throws
    {
        let hanging = Gate()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { [store] _, _ in
                store.gate.withLock { $0 = hanging }
                throw RefreshRejectedError()
            }, transport: StubTransport { _ in .status(404) }, time: time)
        let events = tokens.events
        try await tokens.signIn(with: .fresh(1))
        let refresh = Task { try await tokens.refresh() }
        try await passTime(until: refresh)
        // A later caller learns it at once.
        for caller in [refresh, Task { try await tokens.refresh() }] {
            let error = await #expect(throws: SessionError.self) { try await caller.value }
            guard case .refreshFailed(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.kind == .storage && tokens.state.isSignedIn)
        }
        store.gate.withLock { $0 = nil }
        hanging.open()
        let expiry = await events.first { if case .expired = $0 { true } else { false } }
        guard case .expired(_, .refreshTokenRejected)? = expiry else {
            Issue.record("\(String(describing: expiry))")
            return
        }
        await #expect(throws: SessionError.self) { try await tokens.refresh() }
    }

    @Test("a user who signs in does not wait for the hanging refresh of the user before") func nextUser()
        async throws
    {
        let hanging = Gate()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { former, _ in
                guard former.accessToken == Tokens.fresh(1).accessToken else { return .fresh(3) }
                await hanging.pass()
                return .fresh(2)
            }, transport: StubTransport { _ in .status(404) }, time: time)
        try await tokens.signIn(with: .fresh(1))
        let former = Task { try await tokens.refresh() }
        await hanging.waitForArrivals()
        try await tokens.signIn(with: .fresh(5))
        // Time stands still.
        #expect(try await tokens.refresh().accessToken == Tokens.fresh(3).accessToken)
        await #expect(throws: SessionError.sessionChanged) { try await former.value }
        // The tokens that may still arrive must be revoked.
        let isFinished = Locked(false)
        let finishing = Task {
            let isDone = await tokens.finishPendingWork()
            isFinished.withLock { $0 = true }
            return isDone
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!isFinished.withLock { $0 })
        hanging.open()
        #expect(await finishing.value)
        #expect(tokens.currentTokens?.accessToken == Tokens.fresh(3).accessToken)
    }

    @Test("a refresh that the store stops before it is sent does not lengthen the backoff") func backoff() async throws
    {
        let tokens = manager()
        try await tokens.signIn(with: .fresh(1))
        let gate = Gate()
        store.lockGate.withLock { $0 = gate }
        let policy = SessionPolicy()
        for _ in 1...5 {
            let refresh = Task { try await tokens.refresh() }
            let limit = policy.lockLease * 2 + policy.storeTimeout
            _ = try await time.advance(by: limit) { await refresh.result }
            await #expect(throws: SessionError.self) { try await refresh.value }
            time.advance(by: policy.firstBackoff)
        }
        store.lockGate.withLock { $0 = nil }
        gate.open()
        #expect(try await tokens.refresh().accessToken == Tokens.fresh(2).accessToken)
    }

    @Test("callers do not wait for a lock whose check never ends") func stuckCheck() async throws {
        let tokens = manager()
        try await tokens.signIn(with: .fresh(1))
        let gate = Gate()
        store.checkGate.withLock { $0 = gate }
        let refresh = Task { try await tokens.refresh() }
        _ = try await time.advance(by: SessionPolicy().storeTimeout) { await refresh.result }
        await #expect(throws: SessionError.self) { try await refresh.value }
        store.checkGate.withLock { $0 = nil }
        gate.open()
        time.advance(by: SessionPolicy().firstBackoff)
        #expect(try await tokens.refresh().accessToken == Tokens.fresh(2).accessToken)
    }

    @Test("a user who signs in while an earlier sign-out reads the store stays signed in") func laterSignIn()
        async throws
    {
        let tokens = manager()
        await store.write(StoredSession(id: SessionID(), generation: 1, tokens: .fresh(7)))
        let gate = store.hang()
        let signOut = Task { await tokens.signOut() }
        await gate.waitForArrivals()
        let signIn = Task { try await tokens.signIn(with: .fresh(1)) }
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        await signOut.value
        // The session that the user signed out of is gone.
        guard case .found(let record) = await store.read(), record.tokens.accessToken == "access-1" else {
            Issue.record("the former session is still stored")
            return
        }
        #expect(try await signIn.value.isSaved)
        #expect(tokens.state.isSignedIn)
    }

    @Test("a store that prompts the user is not read again for a caller who has got the answer") func onePrompt()
        async throws
    {
        let tokens = manager()
        let gate = store.hang()
        let first = Task { await tokens.restore() }
        await gate.waitForArrivals()
        first.cancel()
        _ = await first.value
        let second = Task { await tokens.restore() }
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        #expect(await second.value == .signedOut)
        await tokens.flushStore()
        #expect(store.reads.withLock { $0 } == 1)
    }

    @Test("the session's lock is not held while a clock is read") func clock() async throws {
        store.prompts.withLock { $0 = false }
        let watched = HookedTime()
        let tokens = manager(time: watched)
        try await tokens.signIn(with: .fresh(1))
        let gate = store.hang()
        store.reportChange()
        await gate.waitForArrivals()
        watched.onRead.withLock { $0 = { _ = tokens.state } }
        async let signIn = tokens.signIn(with: .fresh(2))
        while tokens.inspect({ $0.machine.currentRecord?.tokens }) != .fresh(2) { await Task.yield() }
        gate.open()
        _ = try await signIn
    }
}

/// A clock that runs an action whenever it is read.
private final class HookedTime: TimeSource {
    let onRead = Locked<(@Sendable () -> Void)?>(nil)
    private let inner = ManualTimeSource()

    var uptime: Duration {
        onRead.withLock { $0 }?()
        return inner.uptime
    }
    var wallClock: Date { inner.wallClock }
    func sleep(until deadline: Duration) async throws { try await inner.sleep(until: deadline) }
}
