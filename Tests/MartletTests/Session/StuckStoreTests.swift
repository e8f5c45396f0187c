import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// What is asked of the store, or of its lock, waits at a gate once there is one.
private final class Shelf: TokenStore {
    private struct ShelfLock: StoreLock {
        let shelf: Shelf

        func acquire(lease: Duration) async throws -> any HeldStoreLock {
            shelf.acquired.withLock { $0 += 1 }
            await shelf.lockGate.withLock { $0 }?.pass()
            return Held(shelf: shelf)
        }
    }

    private struct Held: HeldStoreLock {
        let shelf: Shelf

        var isHeld: Bool {
            shelf.looks.withLock { $0 += 1 }
            return true
        }
        func release() { shelf.released.open() }
    }

    let gate = Locked<Gate?>(nil)
    let lockGate = Locked<Gate?>(nil)
    let reads = Locked(0)
    let acquired = Locked(0)
    /// How often somebody asked whether the lock is still held.
    let looks = Locked(0)
    let released = Gate()
    private let memory = InMemoryTokenStore()
    private let news = AsyncStream<Void>.makeStream()

    var lock: (any StoreLock)? { ShelfLock(shelf: self) }
    func changes() -> AsyncStream<Void>? { news.stream }

    /// Something has changed, for whoever wants to look.
    func tellChange() { news.continuation.yield() }

    /// Nothing comes back from now on.
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

@Suite("A store that does not come back", .timeLimit(.minutes(1))) struct StuckStoreTests {
    private let store = Shelf()
    private let time = ManualTimeSource()

    private func manager(time: (any TimeSource)? = nil) -> TokenManager {
        TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { _, _ in .fresh(2) }, transport: StubTransport { _ in .status(404) },
            time: time ?? self.time)
    }

    /// Lets time pass until a task is done.
    private func passTime<Value>(until task: Task<Value, any Error>) async {
        let isDone = Locked(false)
        let waiting = Task {
            _ = await task.result
            isDone.withLock { $0 = true }
        }
        while !isDone.withLock({ $0 }) {
            time.advance(by: SessionPolicy().storeTimeout)
            await Task.yield()
        }
        await waiting.value
    }

    @Test("is read once for all who gave up waiting") func readsForNobody() async throws {
        let gate = store.hang()
        let tokens = manager()
        for _ in 1...3 {
            let caller = Task { try await tokens.validToken() }
            await gate.waitForArrivals()
            await time.waitForSleepers()
            time.advance(by: SessionPolicy().storeTimeout)
            await #expect(throws: SessionError.self) { try await caller.value }
        }
        let events = tokens.events
        gate.open()
        _ = await events.first { if case .restored = $0 { true } else { false } }
        await tokens.storeLane.flush()
        #expect(store.reads.withLock { $0 } == 1)
    }

    @Test("is told to whoever signs out, and deletes when it goes on") func signOut() async throws {
        let tokens = manager()
        try await tokens.signIn(with: .fresh(1))
        let events = tokens.events
        let gate = store.hang()
        store.tellChange()
        await gate.waitForArrivals()
        await passTime(until: Task { await tokens.signOut() })
        // That has been told by now.
        _ = await events.first { if case .storeFailed(.delete, _) = $0 { true } else { false } }
        gate.open()
        await tokens.storeLane.flush()
        #expect(await store.read() == .empty)
    }

    @Test("whose lock does not come lets nobody wait for ever, and gets the lock back") func stuckLock() async throws {
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
        // It is asked for again the next time.
        time.advance(by: .seconds(3600))
        try await tokens.refresh()
    }

    @Test("is not asked for its lock either by a refresh that gives up") func noteDelayed() async throws {
        let tokens = manager()
        try await tokens.signIn(with: .fresh(1))
        let gate = store.hang()
        store.tellChange()
        await gate.waitForArrivals()
        let refresh = Task { try await tokens.refresh() }
        await passTime(until: refresh)
        await #expect(throws: SessionError.self) { try await refresh.value }
        #expect(store.looks.withLock { $0 } == 0)
        gate.open()
    }

    @Test("has its lock asked for once, as long as what a refresh brought is not written") func refreshTwice()
        async throws
    {
        let hanging = Gate()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store,
            refresher: .custom { [store] _, _ in
                // Before the outcome is written.
                store.gate.withLock { $0 = hanging }
                return .fresh(2)
            }, transport: StubTransport { _ in .status(404) }, time: time)
        try await tokens.signIn(with: .fresh(1))
        let first = Task { try await tokens.refresh() }
        await hanging.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().storeTimeout)
        try await first.value
        time.advance(by: .seconds(60))
        let second = Task { try await tokens.refresh() }
        await passTime(until: second)
        await #expect(throws: SessionError.self) { try await second.value }
        #expect(store.acquired.withLock { $0 } == 1)
        hanging.open()
        await tokens.storeLane.flush()
        #expect(await store.read() != .empty)
    }

    @Test("does not hold the session's lock while a clock is looked at") func clock() async throws {
        let watched = LookingTime()
        let tokens = manager(time: watched)
        try await tokens.signIn(with: .fresh(1))
        let gate = store.hang()
        store.tellChange()
        await gate.waitForArrivals()
        watched.look.withLock { $0 = { _ = tokens.state } }
        async let signIn = tokens.signIn(with: .fresh(2))
        while tokens.core.withLock({ $0.machine.currentRecord?.bundle }) != .fresh(2) { await Task.yield() }
        gate.open()
        _ = try await signIn
    }
}

/// A clock that looks at something else whenever it is looked at.
private final class LookingTime: TimeSource {
    let look = Locked<(@Sendable () -> Void)?>(nil)
    private let inner = ManualTimeSource()

    var uptime: Duration {
        look.withLock { $0 }?()
        return inner.uptime
    }
    var wallClock: Date { inner.wallClock }
    func sleep(until deadline: Duration) async throws { try await inner.sleep(until: deadline) }
}
