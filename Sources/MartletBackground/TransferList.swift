internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The list of transfers, in memory and on the disk. Changes happen one after another on a thread that may block.
final class TransferList: Sendable {
    private let folder: TransferFolder
    private let queue = BlockingQueue("martlet.background-transfers")
    /// `nil` until the list has been read. Written on `queue` only.
    private let records = Locked<[UUID: TransferRecord]?>(nil)
    /// The removed transfers whose records are still on the disk.
    private let unremoved = Locked<Set<UUID>>([])

    init(_ folder: TransferFolder) {
        self.folder = folder
    }

    /// Reads the list if that has not happened yet.
    func all() async throws(StorageError) -> [TransferRecord] {
        try await run { () throws(StorageError) in Array(try self.loaded().values) }
    }

    /// The record in memory; does not read the disk.
    func record(_ id: UUID) -> TransferRecord? {
        records.withLock { $0?[id] }
    }

    /// All records in memory; does not read the disk.
    var known: [TransferRecord] {
        records.withLock { $0.map { Array($0.values) } ?? [] }
    }

    /// Adds a transfer, unless there is one with its ID.
    func add(_ record: TransferRecord) async throws(StorageError) {
        try await run { () throws(StorageError) in
            if try self.loaded()[record.id] == nil { try self.write(record) }
        }
    }

    /// Changes a transfer, unless its record has changed since the decision. The change is on the disk when the method
    /// returns.
    /// - Parameters:
    ///   - record: The record at the time of the decision.
    ///   - isAllowed: Checked right before the change.
    ///   - change: May also move files.
    /// - Returns: The record after the change; `nil` if nothing has changed.
    @discardableResult
    func change(
        _ record: TransferRecord, if isAllowed: @escaping @Sendable () -> Bool = { true },
        _ change: @escaping @Sendable (inout TransferRecord) -> Void
    ) async throws(StorageError) -> TransferRecord? {
        try await self.change(record.id) { current in
            guard current == record, isAllowed() else { return false }
            change(&current)
            return true
        }
    }

    /// Changes a transfer, even if its record has changed in the meantime. The change is on the disk when the method
    /// returns.
    /// - Parameter change: Changes the record, and returns whether it did.
    /// - Returns: The record after the change; `nil` if there is none, or if nothing has changed.
    @discardableResult
    func change(
        _ id: UUID, _ change: @escaping @Sendable (inout TransferRecord) -> Bool
    ) async throws(StorageError) -> TransferRecord? {
        try await run { () throws(StorageError) in
            guard var record = try self.loaded()[id], change(&record) else { return nil }
            try self.write(record)
            return record
        }
    }

    /// Like `change`, on a thread of the system. The caller blocks, so that the change is on the disk before the system
    /// learns that the event was handled.
    /// - Parameter change: May also move files.
    func changeHere(_ id: UUID, _ change: (inout TransferRecord) throws(StorageError) -> Bool) throws(StorageError) {
        var result = Result<Void, StorageError>.success(())
        queue.wait {
            result = Result { () throws(StorageError) in
                guard var record = try loaded()[id], try change(&record) else { return }
                try write(record)
            }
        }
        try result.get()
    }

    /// Removes a transfer and its files.
    /// - Throws: ``StorageError`` if its record stays on the disk. Even then, the transfer is no longer in the list.
    func remove(_ id: UUID) async throws(StorageError) {
        try await run { () throws(StorageError) in
            _ = try self.loaded()
            self.records.withLock { $0?[id] = nil }
            try self.removeFiles(of: id)
        }
    }

    /// Removes what is left of a removed transfer before a new one uses its ID. Trying again later would delete the
    /// files of the new one.
    func makeWay(for id: UUID) async {
        guard unremoved.withLock({ $0.contains(id) }) else { return }
        await run {
            try? self.folder.remove(id)
            self.unremoved.withLock { _ = $0.remove(id) }
        }
    }

    /// Tries again to remove the files that could not be removed before.
    func retryRemovals() async {
        guard !unremoved.withLock(\.isEmpty) else { return }
        await run {
            for id in self.unremoved.withLock({ $0 }) { try? self.removeFiles(of: id) }
        }
    }

    private func removeFiles(of id: UUID) throws(StorageError) {
        unremoved.withLock { _ = $0.insert(id) }
        try folder.remove(id)
        unremoved.withLock { _ = $0.remove(id) }
    }

    /// Runs work that may block, in order with all changes.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await queue.run(work)
    }

    private func loaded() throws(StorageError) -> [UUID: TransferRecord] {
        if let known = records.withLock({ $0 }) { return known }
        let read = try folder.load()
        records.withLock { $0 = read }
        return read
    }

    private func write(_ record: TransferRecord) throws(StorageError) {
        try folder.write(record)
        unremoved.withLock { _ = $0.remove(record.id) }
        records.withLock { $0?[record.id] = record }
    }
}
