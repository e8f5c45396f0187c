#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A token store whose updates hold a lock between processes, with an ``EndMark`` in a file or in place of the record.
///
/// A conforming type reads, replaces and deletes the record's bytes. The extension adds the encoding, the lock, the
/// mark and the retry after a lost lock.
protocol LockedTokenStore: TokenStore {
    /// Held during one change of the record; `nil` if no other process can reach the record.
    var updateLock: ProcessLock? { get }
    /// The time for which a process may hold ``updateLock`` before another one takes it away.
    var updateLease: Duration { get }
    /// The file of the mark; `nil` if no other process can reach the record.
    var markFile: PrivateFile? { get }
    /// Whether the mark takes the record's place, because there is no file for it.
    var keepsMarkInPlace: Bool { get }
    /// Runs the closures of updates. They may check a lock, which reads the disk.
    var queue: BlockingQueue { get }

    /// Authenticates the user before the record is read. An update does not call this: a refresh must be able to store
    /// its tokens without the user.
    func confirmUser() async throws(StorageError)
    /// The bytes of the record; `nil` if there is definitely none.
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
    /// Tells other processes that the mark has changed but the record has not.
    func reportMark() async
}

/// The content of a store: the reading for callers, and the state of the mark.
private struct StoreContent {
    var reading: StoreReading
    var mark: EndMark?
    /// Whether there is still a record that the mark covers: the process that ended the session was killed before it
    /// deleted the record, or could not read it.
    var hasEndedRecord = false
    /// Whether the mark is in the record's place.
    var isMark = false
}

extension LockedTokenStore {
    var keepsMarkInPlace: Bool { false }

    func confirmUser() async throws(StorageError) {}

    func read() async -> StoreReading {
        do throws(StorageError) {
            try await confirmUser()
        } catch {
            return .unavailable(error)
        }
        return await LockedRecord(store: self).read()
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
        try await LockedRecord(store: self).update(decide)
    }
}

/// The record of a store. This is not an extension of ``LockedTokenStore``: an extension would be compiled for each
/// conforming type.
private struct LockedRecord {
    let store: any LockedTokenStore

    func read() async -> StoreReading {
        let content = await content()
        if content.hasEndedRecord { _ = try? await update { _ in .keep } }
        return content.reading
    }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        guard let updateLock = store.updateLock else { return try await change(while: { true }, decide) ?? .empty }
        while true {
            let held: HeldProcessLock
            do {
                held = try await updateLock.acquireHeld(lease: store.updateLease)
            } catch let error as StorageError {
                return try await updateWithoutLock(because: error, decide)
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

    /// Without the lock, a write or a mark fails, and the record stays. A sign-out still deletes the record, unless the
    /// device is locked or another program wrote it, and then throws, because there is no mark.
    private func updateWithoutLock(
        because failure: StorageError, _ decide: @escaping @Sendable (StoreReading) -> StoreUpdate
    ) async throws -> StoreReading {
        let reading = await content().reading
        switch await store.queue.run({ decide(reading) }) {
        case .keep: return reading
        case .write, .mark: throw failure
        case .delete, .end:
            // On a locked device, wait for the unlock: the deletion is retried then.
            if !reading.isForeign, failure.kind != .locked { _ = try await store.remove(while: { true }) }
            throw failure
        }
    }

    /// - Returns: The record before the change; `nil` if the lock was lost and nothing has changed.
    private func change(
        while isHeld: @escaping @Sendable () -> Bool, _ decide: @escaping @Sendable (StoreReading) -> StoreUpdate
    ) async throws -> StoreReading? {
        let content = await content()
        let reading = content.reading
        let update = await store.queue.run { decide(reading) }
        if case .unavailable(let failure) = reading, reading.isForeign {
            // Never replace or delete another program's content. Still raise the mark: Martlet's record may have been
            // moved away, and may come back.
            switch update {
            case .write: throw failure
            case .end(let mark), .mark(let mark):
                return try await raise(mark, over: content, while: isHeld) ? reading : nil
            case .keep, .delete: return reading
            }
        }
        let isDone: Bool
        switch update {
        case .keep:
            isDone = content.hasEndedRecord ? try await store.remove(while: isHeld) : true
        case .write(let session):
            isDone = try await write(session, over: content, while: isHeld)
        case .delete:
            isDone = content.isMark ? true : try await store.remove(while: isHeld)
        case .end(let mark):
            isDone = try await end(mark, over: content, while: isHeld)
        case .mark(let mark):
            isDone = try await raise(mark, over: content, while: isHeld)
            if isDone { await store.reportMark() }
        }
        return isDone ? reading : nil
    }

    private func write(
        _ session: StoredSession, over content: StoreContent, while isHeld: @escaping @Sendable () -> Bool
    ) async throws -> Bool {
        let bytes = try session.encoded()
        guard try await store.replace(with: bytes, while: isHeld) else { return false }
        // Remove a mark that covers the new record. Only a sign-in that could not read the store ranks below the mark.
        // Until the record is written, the mark must stay: it may cover the record of an earlier user.
        let isBelowMark = content.mark?.covers(session) ?? !content.reading.wasReadable
        guard isBelowMark, let markFile = store.markFile else { return true }
        return try await store.queue.run { () throws(StorageError) in try markFile.delete(if: isHeld) }
    }

    /// Replaces the record with the mark, in one step.
    private func endInPlace(
        _ mark: EndMark, over content: StoreContent, while isHeld: @escaping @Sendable () -> Bool
    ) async throws -> Bool {
        if content.isMark { return try await raise(mark, over: content, while: isHeld) }
        do {
            return try await store.replace(with: mark.encoded(), while: isHeld)
        } catch {
            // On a full disk, delete the tokens all the same. That may make room for the mark.
            guard try await store.remove(while: isHeld) else { return false }
            guard let hasMark = try? await store.replace(with: mark.encoded(), while: isHeld) else { throw error }
            return hasMark
        }
    }

    /// Raises the mark, and then deletes the record. If the process is killed in between, the next one that finds the
    /// record deletes it.
    private func end(
        _ mark: EndMark, over content: StoreContent, while isHeld: @escaping @Sendable () -> Bool
    ) async throws -> Bool {
        if store.keepsMarkInPlace { return try await endInPlace(mark, over: content, while: isHeld) }
        var failure: StorageError?
        do {
            guard try await raise(mark, over: content, while: isHeld) else { return false }
        } catch let error as StorageError {
            failure = error
        }
        guard try await store.remove(while: isHeld) else { return false }
        if let failure { throw failure }
        return true
    }

    private func raise(
        _ mark: EndMark, over content: StoreContent, while isHeld: @escaping @Sendable () -> Bool
    ) async throws -> Bool {
        if let current = content.mark, current.position >= mark.position { return true }
        let bytes = try mark.raisingFloor(to: content.mark?.certainPosition).encoded()
        guard let markFile = store.markFile else {
            // Do not put the mark in place of a record that cannot be read now.
            return content.isMark ? try await store.replace(with: bytes, while: isHeld) : true
        }
        return try await store.queue.run { () throws(StorageError) in
            try markFile.makeFolder()
            guard isHeld() else { return false }
            markFile.removeLeftovers(olderThan: 0)
            return try markFile.replace(with: bytes, if: isHeld)
        }
    }

    private func content() async -> StoreContent {
        do throws(StorageError) {
            let bytes = try await store.readBytes()
            // Read the mark after the record: if another process ends the session in between, the mark says so.
            let mark = try await readMark()
            guard let bytes else {
                return StoreContent(reading: mark.map { .ended($0) } ?? .empty, mark: mark)
            }
            do throws(StorageError) {
                let session = try StoredSession(encoded: bytes)
                if let mark, mark.covers(session) {
                    return StoreContent(reading: .ended(mark), mark: mark, hasEndedRecord: true)
                }
                return StoreContent(reading: .found(session), mark: mark)
            } catch {
                // A store that keeps no mark there now may have kept one in an earlier version, or without a folder.
                guard let inPlace = try? EndMark(encoded: bytes) else {
                    return StoreContent(reading: .unavailable(error), mark: mark)
                }
                let last = EndMark.later(mark, inPlace) ?? inPlace
                return StoreContent(reading: .ended(last), mark: last, isMark: store.markFile == nil)
            }
        } catch {
            return StoreContent(reading: .unavailable(error), mark: try? await readMark())
        }
    }

    private func readMark() async throws(StorageError) -> EndMark? {
        guard let markFile = store.markFile else { return nil }
        do throws(StorageError) {
            // A mark contains no secret, so other users may read it.
            let bytes = try await store.queue.run { () throws(StorageError) in try markFile.read(.unchangeable) }
            return try bytes.map { bytes throws(StorageError) in try EndMark(encoded: bytes) }
        } catch {
            // Ignore a mark that will never be readable. The next ending replaces it.
            if error.kind.isTransient { throw error }
            return nil
        }
    }
}

extension StoreReading {
    /// Whether another program wrote the content.
    fileprivate var isForeign: Bool {
        if case .unavailable(let failure) = self { failure.kind == .foreign } else { false }
    }
}
