#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// How processes take turns at a record that is not in a file, and hear of each other's changes: by way of files that
/// hold nothing.
struct StoreTurns: Sendable {
    /// Held by whoever changes the record, for no longer than that takes.
    let updateLock: ProcessLock
    let refreshLock: ProcessLock
    private let note: PrivateFile
    private let queue = BlockingQueue("martlet.store-turns")

    /// A change takes milliseconds, or as long as the storage waits for a service that does not answer. Whoever is in
    /// the middle of one for longer was stopped there.
    static let lease = Duration.seconds(15)

    /// - Parameters:
    ///   - folder: Where the files are, made when they are needed.
    ///   - key: What the record is called; each has files of its own.
    init(folder: String, key: String, time: any TimeSource, activities: ExpiringActivities? = .platform) {
        let path = folder + "/" + EscapedName.path(of: key)
        updateLock = ProcessLock(path: path + ".lock", time: time, activities: activities)
        refreshLock = ProcessLock(path: path + ".refresh.lock", time: time, activities: activities)
        note = PrivateFile(path: path + ".changed")
    }

    /// Tells all processes that the record has changed. Where that fails they notice at their next refresh.
    func tell() async {
        await queue.run { [note] in _ = try? note.replace(with: Data(), if: { true }) }
    }

    /// One value whenever somebody has told of a change; `nil` where the folder cannot be watched.
    func changes() -> AsyncStream<Void>? {
        note.changes()
    }
}

extension ProcessLock {
    /// Changes a record with the lock held, and begins anew where that was lost before anything was changed.
    /// - Parameters:
    ///   - lease: How long another holder is waited for.
    ///   - read: Reads the record without the lock.
    ///   - decide: What is to become of the record.
    ///   - change: Does that while the lock is held; returns what was there before, or `nil` where it was lost.
    func update(
        lease: Duration, reading read: () async -> StoreReading, _ decide: (StoreReading) -> StoreUpdate,
        _ change: (any HeldStoreLock) async throws -> StoreReading?
    ) async throws -> StoreReading {
        while true {
            let held: any HeldStoreLock
            do {
                held = try await acquire(lease: lease)
            } catch let failure as StorageFailure {
                // Where nothing can be locked nothing can be written; but there may be nothing to write.
                let reading = await read()
                guard case .keep = decide(reading) else { throw failure }
                return reading
            }
            defer { held.release() }
            if let reading = try await change(held) { return reading }
        }
    }
}
