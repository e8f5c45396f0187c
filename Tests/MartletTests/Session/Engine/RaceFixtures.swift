import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

/// A clock that runs an action when it is read.
final class WatchedTime: TimeSource {
    private let inner = ManualTimeSource()
    private let action = Locked<(@Sendable () -> Bool)?>(nil)

    /// - Parameter action: Called at each read until it returns `true`.
    func onRead(_ action: @escaping @Sendable () -> Bool) {
        self.action.withLock { $0 = action }
    }

    var uptime: Duration {
        // Removed while it runs, because it reads the clock itself.
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        if let action, !action() { onRead(action) }
        return inner.uptime
    }
    var wallClock: Date { inner.wallClock }
    func sleep(until deadline: Duration) async throws { try await inner.sleep(until: deadline) }
}

/// A store shared with other processes. A test controls its lock, a full disk and whether it is locked.
final class SharedStubStore: TokenStore {
    let gate = Gate()
    let isFull = Locked(false)
    let isLocked = Locked(false)
    let reads = Locked(0)
    /// Holds the readings that have begun.
    let readGate = Locked<Gate?>(nil)
    let memory = InMemoryTokenStore()
    private let news = AsyncStream<Void>.makeStream()

    private struct Held: HeldStoreLock {
        var isHeld: Bool { true }
        func release() {}
    }
    private struct GatedLock: StoreLock {
        let gate: Gate
        func acquire(lease: Duration) async throws -> any HeldStoreLock {
            await gate.pass()
            return Held()
        }
    }

    var refreshLock: (any StoreLock)? { GatedLock(gate: gate) }

    func changes() -> AsyncStream<Void>? { news.stream }
    func reportChange() { news.continuation.yield() }

    func read() async -> StoreReading {
        reads.withLock { $0 += 1 }
        await readGate.withLock { $0 }?.pass()
        if isLocked.withLock({ $0 }) { return .unavailable(StorageError(.locked, "locked")) }
        return await memory.read()
    }
    func delete() async { await memory.delete() }
    func write(_ session: StoredSession) async throws {
        if isFull.withLock({ $0 }) { throw StorageError(.unreachable, "the disk is full") }
        await memory.write(session)
    }

    /// Refreshes the record as another process would.
    func renew(_ tokens: Tokens) async {
        guard case .found(var record) = await memory.read() else { return }
        record.tokens = tokens
        record.rotation += 1
        record.journal = nil
        await memory.write(record)
    }
}

/// A transport with one connection that runs an action when its limit is queried.
final class WatchedTransport: Transport {
    private struct State {
        var queries = 0
        var countdown: (left: Int, action: @Sendable () -> Void)?
    }

    private let inner: StubTransport
    private let state = Locked(State())

    init(_ inner: StubTransport) {
        self.inner = inner
    }

    func onQuery(_ number: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.countdown = (number, action) }
    }

    func waitForQueries(_ count: Int) async {
        while state.withLock({ $0.queries }) < count { await Task.yield() }
    }

    func parallelRequests(to origin: Origin) -> Int? {
        let due = state.withLock { state -> (@Sendable () -> Void)? in
            state.queries += 1
            guard let (left, action) = state.countdown else { return nil }
            state.countdown = left > 1 ? (left - 1, action) : nil
            return left > 1 ? nil : action
        }
        due?()
        return 1
    }

    func makeIsolatedTransport() -> any Transport { inner }

    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        try await inner.send(request, body: body)
    }
}

extension TokenManager {
    /// Signs in as if the store had written the record at once.
    func signInAndStore(_ tokens: Tokens) {
        transition { machine in
            machine.signedIn(StoredSession(id: SessionID(), tokens: tokens), deadlines: nil, by: machine.makeID())
            machine.answer(.write, .empty)
        }
    }
}
