@testable import Martlet

/// The disk of a world: the stored record, the lock that processes share, and the operations that wait for the search.
///
/// `@unchecked Sendable`: a search runs on one thread.
final class SearchDisk: @unchecked Sendable {
    /// An operation of the process under test that the search has not completed yet.
    enum Operation {
        case read(UnsafeContinuation<StoreReading, Never>)
        case update(
            @Sendable (StoreReading) -> StoreUpdate,
            UnsafeContinuation<Result<StoreReading, StorageError>, Never>)
    }

    /// Holds the lock.
    enum Holder: Hashable {
        /// The process under test, and the number of times the lock was acquired before.
        case process(Int)
        /// Another process.
        case other
    }

    var record: StoredSession?
    /// The mark that says which sessions have ended; `nil` if the processes share no disk.
    var mark: EndMark?
    /// Whether the record cannot be read until it is overwritten or deleted.
    var isDamaged = false
    var operations: [Operation] = []
    var holder: Holder?
    /// Whether the lock cannot be acquired because of an error.
    var isLockBroken = false
    /// Whether the last attempt to acquire the lock failed, so that the process continues without it.
    var hasLockFailed = false
    var lockWaiters: [UnsafeContinuation<Void, Never>] = []
    var acquisitions = 0
    /// Whether another process has changed the record and this one was not told.
    var hasUnreadChange = false
    var changes: AsyncStream<Void>.Continuation?
    let isShared: Bool
    /// Called before each change that the process under test makes.
    var willCommit: (StoreUpdate) -> Void = { _ in }

    static let unavailable = StorageError(.locked, "the store is locked")
    static let full = StorageError(.unreachable, "the store cannot be written")
    static let damaged = StorageError(.corrupt, "the record is damaged")

    init(isShared: Bool) {
        self.isShared = isShared
    }

    var reading: StoreReading {
        if isDamaged { return .unavailable(Self.damaged) }
        if let record, mark?.covers(record) != true { return .found(record) }
        return mark.map { .ended($0) } ?? .empty
    }

    /// The result of the oldest operation.
    enum Outcome: Hashable, CaseIterable {
        case works
        /// The store is locked: the operation fails, and nothing was read.
        case isUnavailable
        /// The record is read, but cannot be changed.
        case cannotWrite
        /// The record is changed, and the change is reported as failed.
        case failsAfterCommit
    }

    /// Completes the oldest operation.
    func complete(_ outcome: Outcome) {
        guard !operations.isEmpty else { return }
        // A record that has ended is deleted by the process that finds it.
        if outcome == .works, !isDamaged, let found = record, mark?.covers(found) == true { record = nil }
        switch operations.removeFirst() {
        case .read(let continuation):
            continuation.resume(returning: outcome == .isUnavailable ? .unavailable(Self.unavailable) : reading)
        case .update(let decide, let continuation):
            guard outcome != .isUnavailable else { return continuation.resume(returning: .failure(Self.unavailable)) }
            let before = reading
            let update = decide(before)
            if outcome == .cannotWrite, update != .keep { return continuation.resume(returning: .failure(Self.full)) }
            commit(update)
            continuation.resume(returning: outcome == .failsAfterCommit ? .failure(Self.full) : .success(before))
        }
    }

    private func commit(_ update: StoreUpdate) {
        willCommit(update)
        switch update {
        case .keep: return
        case .write(let session):
            record = session
            if mark?.covers(session) == true { mark = nil }
        case .delete: record = nil
        case .end(let new):
            raise(new)
            record = nil
        case .mark(let new):
            raise(new)
            return
        }
        isDamaged = false
    }

    /// Another process ends a session: the server has refused it for this reason, or the user has signed out.
    func end(_ record: StoredSession, _ reason: ExpiryReason?) {
        let rotation = reason == nil ? .max : record.rotation
        raise(EndMark(SessionPosition(generation: record.generation, rotation: rotation), expiry: reason))
        self.record = nil
    }

    private func raise(_ new: EndMark) {
        if isShared { mark = EndMark.later(mark, new) }
    }

    /// Abandons the operations of a process that dies. The oldest one may have changed the record.
    func abandonOperations(commits: Bool) {
        if commits, case .update(let decide, _)? = operations.first { commit(decide(reading)) }
        let all = operations
        operations = []
        if case .process = holder { holder = nil }
        changes?.finish()
        changes = nil
        let waiters = lockWaiters
        lockWaiters = []
        for operation in all {
            switch operation {
            case .read(let continuation): continuation.resume(returning: .unavailable(Self.unavailable))
            case .update(_, let continuation): continuation.resume(returning: .failure(Self.unavailable))
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    func releaseLock(of holder: Holder) {
        guard self.holder == holder else { return }
        self.holder = nil
        let waiters = lockWaiters
        lockWaiters = []
        for waiter in waiters { waiter.resume() }
    }
}

/// The token store of the process under test, in one of its lives.
///
/// `@unchecked Sendable`: a search runs on one thread.
final class SearchStore: TokenStore, @unchecked Sendable {
    let disk: SearchDisk
    let power: Power

    init(disk: SearchDisk, power: Power) {
        self.disk = disk
        self.power = power
    }

    func read() async -> StoreReading {
        guard power.isOn else { return .unavailable(SearchDisk.unavailable) }
        return await withUnsafeContinuation { disk.operations.append(.read($0)) }
    }

    func write(_ session: StoredSession) async throws {
        try await update { _ in .write(session) }
    }

    func delete() async throws {
        try await update { _ in .delete }
    }

    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        guard power.isOn else { throw SearchDisk.unavailable }
        return try await withUnsafeContinuation { disk.operations.append(.update(decide, $0)) }.get()
    }

    var refreshLock: (any StoreLock)? { disk.isShared ? Lock(store: self) : nil }

    func changes() -> AsyncStream<Void>? {
        guard disk.isShared, power.isOn else { return nil }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        disk.changes = continuation
        return stream
    }

    private struct Lock: StoreLock {
        let store: SearchStore

        func acquire(lease: Duration) async throws -> any HeldStoreLock {
            let disk = store.disk
            while disk.holder != nil, store.power.isOn {
                await withUnsafeContinuation { disk.lockWaiters.append($0) }
            }
            guard store.power.isOn else { throw SearchDisk.full }
            disk.hasLockFailed = disk.isLockBroken
            if disk.hasLockFailed { throw SearchDisk.full }
            disk.acquisitions += 1
            disk.holder = .process(disk.acquisitions)
            return HeldLock(disk: disk, holder: .process(disk.acquisitions))
        }
    }

    private struct HeldLock: HeldStoreLock {
        let disk: SearchDisk
        let holder: SearchDisk.Holder

        var isHeld: Bool { disk.holder == holder }
        // The default implementation would leave the thread of the search.
        func isStillHeld() async -> Bool { isHeld }
        func release() { disk.releaseLock(of: holder) }
    }
}

/// Whether a life of the process under test continues.
///
/// `@unchecked Sendable`: a search runs on one thread.
final class Power: @unchecked Sendable {
    var isOn = true
}
