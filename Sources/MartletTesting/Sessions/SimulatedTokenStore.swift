public import Martlet

/// The token store of one process on a ``SimulatedDisk``.
public final class SimulatedTokenStore: TokenStore {
    private let disk: SimulatedDisk
    private let process: String
    private let isShared: Bool
    private let keepsMark: Bool
    private let hasDied = Locked(false)

    init(disk: SimulatedDisk, process: String, isShared: Bool, keepsMark: Bool) {
        self.disk = disk
        self.process = process
        self.isShared = isShared
        self.keepsMark = keepsMark
    }

    /// Simulates the death of the process: its lock becomes free, its running operations fail, and later operations
    /// have no effect.
    ///
    /// Release the process's token manager as well, and make its transport and its clock fail.
    public func kill() {
        let isFirst = hasDied.withLock { hasDied in
            defer { hasDied = true }
            return !hasDied
        }
        guard isFirst else { return }
        disk.report(process, .killed)
        disk.forget(process)
    }

    /// Reads the record.
    public func read() async -> StoreReading {
        guard let behavior = await begin(.read) else { return .unavailable(Self.dead) }
        switch behavior.fault {
        case .unreachable(let failure), .unreadable(let failure):
            disk.report(process, .failed(.read, failure, nil))
            await end(.read, behavior)
            return .unavailable(failure)
        case .full, .failedAfterCommit, nil:
            let reading = disk.reading(keepsMark: keepsMark)
            disk.report(process, .read(reading))
            await end(.read, behavior)
            return reading
        }
    }

    /// Writes the record.
    public func write(_ session: StoredSession) async throws {
        try await update { _ in .write(session) }
    }

    /// Deletes the record.
    public func delete() async throws {
        try await update { _ in .delete }
    }

    /// Reads the record and applies the decision atomically.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        guard let behavior = await begin(.update) else { throw Self.dead }
        if case .unreachable(let failure) = behavior.fault {
            disk.report(process, .failed(.update, failure, nil))
            await end(.update, behavior)
            throw failure
        }
        let done = disk.state.withLock { $0.carryOut(behavior.fault, isShared: isShared, keepsMark: keepsMark, decide) }
        disk.report(process, done.event)
        if case .wrote(let session) = done.event, session != done.before { disk.notifyListeners() }
        if case .deleted(.some) = done.event { disk.notifyListeners() }
        if case .failedAfterCommit(let failure) = behavior.fault {
            disk.report(process, .failed(.update, failure, done.update))
        }
        await end(.update, behavior)
        if hasDied.withLock({ $0 }) { throw Self.dead }
        if let failure = behavior.fault?.failure(of: done.update) { throw failure }
        return done.reading
    }

    /// The lock that all processes share; `nil` if this process was opened as not shared.
    public var refreshLock: (any StoreLock)? {
        isShared ? Lock(store: self) : nil
    }

    /// Yields a value for each change of the record by any process.
    public func changes() -> AsyncStream<Void>? {
        isShared && !hasDied.withLock({ $0 }) ? disk.changes(for: process) : nil
    }

    /// - Returns: `nil` if the process was killed.
    private func begin(_ operation: SimulatedDisk.Operation) async -> SimulatedDisk.Behavior? {
        guard !hasDied.withLock({ $0 }) else { return nil }
        disk.report(process, .requested(operation))
        let behavior = disk.behavior(process, operation)
        await wait(behavior.before)
        return hasDied.withLock { $0 } ? nil : behavior
    }

    private func end(_ operation: SimulatedDisk.Operation, _ behavior: SimulatedDisk.Behavior) async {
        if behavior.after > .zero { await wait(behavior.after) }
        if !hasDied.withLock({ $0 }) { disk.report(process, .completed(operation)) }
    }

    private func wait(_ duration: Duration) async {
        await SeededScheduler.pause()
        // A disk completes an operation that it has begun, even if the task is cancelled.
        if duration > .zero {
            await Task { [disk] in try? await disk.time.sleep(until: disk.time.uptime + duration) }.value
        }
    }

    private static var dead: StorageError {
        StorageError(.unreachable, "the process was killed")
    }
}

// MARK: - The lock

extension SimulatedTokenStore {
    /// The lock of the disk, as this process uses it.
    private struct Lock: StoreLock {
        let store: SimulatedTokenStore

        func acquire(lease: Duration) async throws -> any HeldStoreLock {
            try await store.acquire(lease: lease)
        }
    }

    private struct HeldLock: HeldStoreLock {
        let store: SimulatedTokenStore
        let id: Int

        var isHeld: Bool { store.disk.lockQueue.withLock { $0.holder?.id == id } }
        // The default implementation would leave the threads of the scheduler.
        func isStillHeld() async -> Bool { isHeld }
        func release() { store.release(id) }
    }

    private func acquire(lease: Duration) async throws -> any HeldStoreLock {
        guard let behavior = await begin(.lock) else { throw Self.dead }
        if let failure = behavior.fault?.failure {
            disk.report(process, .failed(.lock, failure, nil))
            throw failure
        }
        while true {
            try Task.checkCancellation()
            guard !hasDied.withLock({ $0 }) else { throw Self.dead }
            let now = disk.time.uptime
            let (id, previous, deadline) = disk.lockQueue.withLock {
                [process, hasDied] queue -> (Int?, String?, Duration) in
                // Check again: `kill` has already released the process's lock and would not release this one.
                if hasDied.withLock({ $0 }) { return (nil, nil, now) }
                if let holder = queue.holder, now < holder.deadline { return (nil, nil, holder.deadline) }
                let previous = queue.holder?.process
                queue.lastID += 1
                queue.holder = SimulatedDisk.Holder(id: queue.lastID, process: process, deadline: now + lease)
                return (queue.lastID, previous, .zero)
            }
            if let id {
                disk.report(process, previous.map { .tookOverLock(from: $0) } ?? .locked)
                return HeldLock(store: self, id: id)
            }
            await waitForTurn(until: deadline)
        }
    }

    /// Returns when the lock is released, when its holder's lease expires, or when the task is cancelled.
    private func waitForTurn(until deadline: Duration) async {
        let id = disk.lockQueue.withLock { lockQueue in
            lockQueue.lastID += 1
            return lockQueue.lastID
        }
        let alarm = Task { [disk] in
            guard (try? await disk.time.sleep(until: deadline)) != nil else { return }
            disk.stopWaiting(id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = disk.lockQueue.withLock { lockQueue in
                    guard lockQueue.holder != nil, !Task.isCancelled, disk.time.uptime < deadline else { return false }
                    lockQueue.waiters.append((id, continuation))
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: { [disk] in
            disk.stopWaiting(id)
        }
        alarm.cancel()
    }

    private func release(_ id: Int) {
        guard !hasDied.withLock({ $0 }) else { return }
        let waiters = disk.lockQueue.withLock { lockQueue -> [CheckedContinuation<Void, Never>]? in
            guard lockQueue.holder?.id == id else { return nil }
            lockQueue.holder = nil
            defer { lockQueue.waiters = [] }
            return lockQueue.waiters.map(\.continuation)
        }
        guard let waiters else { return }
        disk.report(process, .unlocked)
        for continuation in waiters { continuation.resume() }
    }
}

extension SimulatedDisk {
    func stopWaiting(_ id: Int) {
        let continuation = lockQueue.withLock { lockQueue -> CheckedContinuation<Void, Never>? in
            guard let index = lockQueue.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return lockQueue.waiters.remove(at: index).continuation
        }
        continuation?.resume()
    }
}

extension SimulatedDisk.State {
    /// The result of an update.
    struct Done {
        let before: StoredSession?
        let reading: StoreReading
        let update: StoreUpdate
        let event: SimulatedDisk.Event
    }

    /// Applies an update to the record, unless the fault prevents it.
    fileprivate mutating func carryOut(
        _ fault: SimulatedDisk.Fault?, isShared: Bool, keepsMark: Bool,
        _ decide: (StoreReading) -> StoreUpdate
    ) -> Done {
        let before = record
        var reading = reading(keepsMark: keepsMark)
        if case .unreadable(let failure) = fault { reading = .unavailable(failure) }
        let update = decide(reading)
        let event: SimulatedDisk.Event
        if case .full(let failure) = fault, update != .keep {
            event = .failed(.update, failure, update)
        } else {
            switch update {
            case .keep:
                event = .read(reading)
            case .write(let session):
                record = session
                // In a store that is not shared, the record replaces the mark.
                if !isShared || mark?.covers(session) == true { mark = nil }
                event = .wrote(session)
            case .delete:
                record = nil
                event = .deleted(before)
            case .end(let new):
                raise(new)
                record = nil
                event = .deleted(before)
            case .mark(let new):
                // A store that is not shared raises an existing mark, but never replaces a record with one.
                if isShared || keepsMark && record == nil && mark != nil { raise(new) }
                // A store deletes a covered record when it next reads it. The simulated disk deletes it now.
                if isShared, let before, new.covers(before) { record = nil }
                event = record == before ? .read(reading) : .deleted(before)
            }
        }
        return Done(before: before, reading: reading, update: update, event: event)
    }

    private mutating func raise(_ new: EndMark) {
        mark = EndMark.later(mark, new)
    }
}

extension SimulatedDisk.Fault {
    fileprivate var failure: StorageError? {
        switch self {
        case .unreachable(let failure), .unreadable(let failure), .full(let failure): failure
        case .failedAfterCommit: nil
        }
    }

    fileprivate func failure(of update: StoreUpdate) -> StorageError? {
        switch self {
        case .unreachable(let failure), .failedAfterCommit(let failure): failure
        case .full(let failure): update == .keep ? nil : failure
        case .unreadable: nil
        }
    }
}
