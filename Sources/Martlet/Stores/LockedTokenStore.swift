#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A token store whose updates hold a lock between processes.
///
/// A conforming type reads, replaces and deletes the record's bytes. The extension adds the encoding, the lock and the
/// retry after a lost lock.
protocol LockedTokenStore: TokenStore {
    /// Held during one change of the record. `nil` if no other process can reach the record.
    var updateLock: ProcessLock? { get }
    /// How long a process may hold ``updateLock`` before another one takes it away.
    var updateLease: Duration { get }
    /// Runs the decisions about the record. They may check a lock, which reads the disk.
    var queue: BlockingQueue { get }

    /// The bytes of the record; `nil` if there is certainly none.
    func readBytes() async throws(StorageError) -> Data?
    /// Replaces the record.
    /// - Parameter isHeld: Whether this process still holds the lock. Check it right before the change, on a queue that
    ///   may block.
    /// - Returns: `false` if the lock was lost and nothing has changed.
    func replace(with bytes: Data, while isHeld: @escaping @Sendable () -> Bool) async throws(StorageError) -> Bool
    /// Deletes the record.
    /// - Parameter isHeld: See ``replace(with:while:)``.
    /// - Returns: `false` if the lock was lost and nothing has changed.
    func remove(while isHeld: @escaping @Sendable () -> Bool) async throws(StorageError) -> Bool
}

extension LockedTokenStore {
    func read() async -> StoreReading {
        do throws(StorageError) {
            guard let bytes = try await readBytes() else { return .empty }
            return .found(try StoredSession(encoded: bytes))
        } catch {
            return .unavailable(error)
        }
    }

    func write(_ session: StoredSession) async throws {
        try await update { _ in .write(session) }
    }

    func delete() async throws {
        try await update { _ in .delete }
    }

    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await lockedUpdate(decide)
    }

    /// Reads the record, calls `decide` and changes the record, with the lock held.
    ///
    /// If this process is suspended for longer than the lease, another one takes the lock away. This process notices
    /// that right before its change and starts over, so `decide` may run several times. No lock of this kind can
    /// prevent a suspension between that last check and the change.
    /// - Throws: ``StorageError``, or `CancellationError` if the task is cancelled while it waits for the lock.
    func lockedUpdate(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        guard let updateLock else { return try await change(while: { true }, decide) ?? .empty }
        while true {
            let held: HeldProcessLock
            do {
                held = try await updateLock.acquireHeld(lease: updateLease)
            } catch let error as StorageError {
                // Without a lock nothing can be written, but the decision may be to keep the record.
                let reading = await read()
                guard case .keep = await queue.run({ decide(reading) }) else { throw error }
                return reading
            }
            let reading: StoreReading?
            do {
                reading = try await change(while: { held.isHeld }, decide)
            } catch {
                await held.releaseNow()
                throw error
            }
            await held.releaseNow()
            if let reading { return reading }
        }
    }

    /// - Returns: The record before the change; `nil` if the lock was lost and nothing has changed.
    private func change(
        while isHeld: @escaping @Sendable () -> Bool, _ decide: @escaping @Sendable (StoreReading) -> StoreUpdate
    ) async throws -> StoreReading? {
        let reading = await read()
        let update = await queue.run { decide(reading) }
        if case .unavailable(let failure) = reading, failure.kind == .foreign {
            // Never replace or delete what another program has written. There is no record to delete, either.
            if case .write = update { throw failure }
            return reading
        }
        switch update {
        case .keep:
            return reading
        case .write(let session):
            let bytes = try session.encoded()
            return try await replace(with: bytes, while: isHeld) ? reading : nil
        case .delete:
            return try await remove(while: isHeld) ? reading : nil
        }
    }
}
