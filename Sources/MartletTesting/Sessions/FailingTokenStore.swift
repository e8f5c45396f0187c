public import Martlet

/// A token store whose operations a test can make fail, block or take time.
///
/// ```swift
/// let store = FailingTokenStore()                     // wraps an in-memory store
/// store.fail(.write, times: 2)                        // the next two writes fail
/// store.isLocked = true                               // all operations fail, as on a locked device
/// store.hold(.delete, at: gate)                       // deletes wait until the gate is opened
/// ```
///
/// To test several processes that share a record, use ``SimulatedDisk``.
public final class FailingTokenStore: TokenStore {
    /// An operation on the store.
    public enum Operation: Sendable, Hashable {
        /// Reading the record.
        case read
        /// Writing the record.
        case write
        /// Deleting the record.
        case delete
    }

    /// The failures and delays that the test has set, and the operations so far.
    private struct State {
        var isLocked = false
        var failures: [Operation: [StorageError]] = [:]
        var permanentFailures: [Operation: StorageError] = [:]
        var pauses: [Operation: @Sendable () async -> Void] = [:]
        var operations: [Operation] = []
    }

    private let inner: any TokenStore
    private let state = Locked(State())

    /// Creates a store that works until the test changes it.
    /// - Parameter store: The wrapped store, which keeps the record.
    public init(_ store: any TokenStore = .inMemory) {
        inner = store
    }

    /// Whether all operations fail with `StorageError.Kind.locked`, as on a device that has not been unlocked since it
    /// started.
    public var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    /// Makes the next operations of a kind fail.
    /// - Parameters:
    ///   - operation: The kind of operation.
    ///   - times: The number of operations that fail. If `nil`, all of them fail until ``recover()``.
    ///   - failure: The error.
    public func fail(
        _ operation: Operation, times: Int? = 1,
        with failure: StorageError = StorageError(.unreachable, "the disk is full")
    ) {
        state.withLock { state in
            if let times {
                state.failures[operation, default: []] += Array(repeating: failure, count: max(times, 0))
            } else {
                state.permanentFailures[operation] = failure
            }
        }
    }

    /// Makes all operations of a kind wait until a gate is opened.
    public func hold(_ operation: Operation, at gate: Gate) {
        state.withLock { $0.pauses[operation] = { await gate.pass() } }
    }

    /// Delays all operations of a kind.
    public func delay(_ operation: Operation, by duration: Duration, on time: any TimeSource) {
        state.withLock { state in
            // A disk completes an operation that it has begun, even if the task is cancelled.
            state.pauses[operation] = { await Task { try? await time.sleep(until: time.uptime + duration) }.value }
        }
    }

    /// Removes all failures, holds and delays.
    public func recover() {
        state.withLock { state in
            let operations = state.operations
            state = State()
            state.operations = operations
        }
    }

    /// All operations so far, in order.
    public var operations: [Operation] { state.withLock { $0.operations } }

    /// The stored record, read directly from the wrapped store; `nil` if there is none or the wrapped store cannot be
    /// read.
    public var record: StoredSession? {
        get async {
            guard case .found(let record) = await inner.read() else { return nil }
            return record
        }
    }

    /// Reads the record, unless the test made reads fail.
    public func read() async -> StoreReading {
        await begin(.read)
        if let failure = failure(of: .read) { return .unavailable(failure) }
        return await inner.read()
    }

    /// Writes the record, unless the test made writes fail.
    public func write(_ session: StoredSession) async throws {
        await begin(.write)
        if let failure = failure(of: .write) { throw failure }
        try await inner.write(session)
    }

    /// Deletes the record, unless the test made deletes fail.
    public func delete() async throws {
        await begin(.delete)
        if let failure = failure(of: .delete) { throw failure }
        try await inner.delete()
    }

    /// Reads the record, then writes or deletes it. If the wrapped store is shared with other processes, the update is
    /// atomic, and holds and delays apply to the update as a whole.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        guard inner.refreshLock != nil else {
            let reading = await read()
            switch decide(reading) {
            case .keep: break
            case .write(let session): try await write(session)
            case .delete, .end: try await delete()
            case .mark: break
            }
            return reading
        }
        for operation in [Operation.read, .write, .delete] { await pause(operation) }
        let failed = Locked<StorageError?>(nil)
        let unread = Locked<StorageError?>(nil)
        let reading = try await inner.update { [self] reading in
            log(.read)
            let readFailure = self.failure(of: .read)
            unread.withLock { $0 = readFailure }
            let update = decide(readFailure.map { .unavailable($0) } ?? reading)
            guard let operation = update.operation else { return update }
            log(operation)
            guard let failure = self.failure(of: operation) else { return update }
            failed.withLock { $0 = failure }
            return .keep
        }
        if let failure = failed.withLock({ $0 }) { throw failure }
        return unread.withLock { $0 }.map { .unavailable($0) } ?? reading
    }

    /// The lock of the wrapped store.
    public var refreshLock: (any StoreLock)? { inner.refreshLock }

    /// The changes that other processes make to the wrapped store.
    public func changes() -> AsyncStream<Void>? { inner.changes() }

    private func begin(_ operation: Operation) async {
        log(operation)
        await pause(operation)
    }

    private func log(_ operation: Operation) {
        state.withLock { $0.operations.append(operation) }
    }

    private func pause(_ operation: Operation) async {
        await state.withLock { $0.pauses[operation] }?()
    }

    private func failure(of operation: Operation) -> StorageError? {
        state.withLock { state in
            if state.isLocked { return StorageError(.locked, "the device has not been unlocked yet") }
            if let next = state.failures[operation]?.first {
                state.failures[operation]?.removeFirst()
                return next
            }
            return state.permanentFailures[operation]
        }
    }
}

extension StoreUpdate {
    fileprivate var operation: FailingTokenStore.Operation? {
        switch self {
        case .keep, .mark: nil
        case .write: .write
        case .delete, .end: .delete
        }
    }
}
