public import Martlet

/// Any store, and what goes wrong with it is up to a test.
///
/// ```swift
/// let store = FailingTokenStore()                     // around a store in memory
/// store.fail(.write, times: 2)                        // the next two writes fail
/// store.isLocked = true                               // cannot be read: nobody knows whether anybody is signed in
/// store.hold(.delete, at: gate)                       // deleting takes until the gate is opened
/// ```
///
/// For several processes that share a record, and for random trouble, there is ``SimulatedDisk``.
public final class FailingTokenStore: TokenStore {
    /// What is asked of a store.
    public enum Operation: Sendable, Hashable {
        /// Reading the record.
        case read
        /// Writing the record.
        case write
        /// Deleting the record.
        case delete
    }

    private struct State {
        var isLocked = false
        var failures: [Operation: [StorageFailure]] = [:]
        var standing: [Operation: StorageFailure] = [:]
        var pauses: [Operation: @Sendable () async -> Void] = [:]
        var operations: [Operation] = []
    }

    private let inner: any TokenStore
    private let state = Guarded(State())

    /// A store that works until told otherwise.
    /// - Parameter store: Keeps the record.
    public init(_ store: any TokenStore = .inMemory) {
        inner = store
    }

    /// Whether nothing can be read, written or deleted, as on a device that has not been unlocked yet.
    public var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    /// Lets the next operations of a kind fail.
    /// - Parameters:
    ///   - operation: Which.
    ///   - times: How many of them; all from now on if `nil`, until ``heal()``.
    ///   - failure: What they fail with.
    public func fail(
        _ operation: Operation, times: Int? = 1,
        with failure: StorageFailure = StorageFailure(.unreachable, "the disk is full")
    ) {
        state.withLock { state in
            if let times {
                state.failures[operation, default: []] += Array(repeating: failure, count: max(times, 0))
            } else {
                state.standing[operation] = failure
            }
        }
    }

    /// Holds all operations of a kind until a gate is opened.
    public func hold(_ operation: Operation, at gate: Gate) {
        state.withLock { $0.pauses[operation] = { await gate.pass() } }
    }

    /// Lets all operations of a kind take their time, by a clock that a test advances.
    public func delay(_ operation: Operation, by duration: Duration, on time: any TimeSource) {
        state.withLock { state in
            // A disk goes on with what it has begun, whoever has lost patience.
            state.pauses[operation] = { await Task { try? await time.sleep(until: time.uptime + duration) }.value }
        }
    }

    /// From now on everything works, and at once.
    public func heal() {
        state.withLock { state in
            let operations = state.operations
            state = State()
            state.operations = operations
        }
    }

    /// What was asked of the store so far, in order.
    public var operations: [Operation] { state.withLock { $0.operations } }

    /// What is stored, whatever the trouble; `nil` where there is nothing, or the store within cannot be read.
    public var record: StoredSession? {
        get async {
            guard case .found(let record) = await inner.read() else { return nil }
            return record
        }
    }

    /// Reads the record, if nothing goes wrong.
    public func read() async -> StoreReading {
        await begin(.read)
        if let failure = trouble(with: .read) { return .unavailable(failure) }
        return await inner.read()
    }

    /// Writes the record, if nothing goes wrong.
    public func write(_ session: StoredSession) async throws {
        await begin(.write)
        if let failure = trouble(with: .write) { throw failure }
        try await inner.write(session)
    }

    /// Deletes the record, if nothing goes wrong.
    public func delete() async throws {
        await begin(.delete)
        if let failure = trouble(with: .delete) { throw failure }
        try await inner.delete()
    }

    /// Reads, then writes or deletes. Where other processes share the store within, they do not come in between, and what is
    /// held or delayed is the update as a whole.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        guard inner.lock != nil else {
            let reading = await read()
            switch decide(reading) {
            case .keep: break
            case .write(let session): try await write(session)
            case .delete: try await delete()
            }
            return reading
        }
        for operation in [Operation.read, .write, .delete] { await pause(operation) }
        let failed = Guarded<StorageFailure?>(nil)
        let unread = Guarded<StorageFailure?>(nil)
        let reading = try await inner.update { [self] reading in
            note(.read)
            let trouble = self.trouble(with: .read)
            unread.withLock { $0 = trouble }
            let update = decide(trouble.map { .unavailable($0) } ?? reading)
            guard let operation = update.operation else { return .keep }
            note(operation)
            guard let failure = self.trouble(with: operation) else { return update }
            failed.withLock { $0 = failure }
            return .keep
        }
        if let failure = failed.withLock({ $0 }) { throw failure }
        return unread.withLock { $0 }.map { .unavailable($0) } ?? reading
    }

    /// The lock of the store within.
    public var lock: (any StoreLock)? { inner.lock }

    /// What others do to the store within.
    public func changes() -> AsyncStream<Void>? { inner.changes() }

    private func begin(_ operation: Operation) async {
        note(operation)
        await pause(operation)
    }

    private func note(_ operation: Operation) {
        state.withLock { $0.operations.append(operation) }
    }

    private func pause(_ operation: Operation) async {
        await state.withLock { $0.pauses[operation] }?()
    }

    private func trouble(with operation: Operation) -> StorageFailure? {
        state.withLock { state in
            if state.isLocked { return StorageFailure(.locked, "the device has not been unlocked yet") }
            if let next = state.failures[operation]?.first {
                state.failures[operation]?.removeFirst()
                return next
            }
            return state.standing[operation]
        }
    }
}

extension StoreUpdate {
    fileprivate var operation: FailingTokenStore.Operation? {
        switch self {
        case .keep: nil
        case .write: .write
        case .delete: .delete
        }
    }
}
