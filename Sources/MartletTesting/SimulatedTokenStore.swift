public import Martlet

/// A ``SimulatedDisk`` as one process sees it.
public final class SimulatedTokenStore: TokenStore {
    private let disk: SimulatedDisk
    private let process: String
    private let isShared: Bool
    private let hasDied = Guarded(false)

    init(disk: SimulatedDisk, process: String, isShared: Bool) {
        self.disk = disk
        self.process = process
        self.isShared = isShared
    }

    /// Kills the process, as far as the disk can: from now on nothing that it does has any effect, its lock is free,
    /// and every operation of its that is under way fails.
    ///
    /// Let go of its manager, and let its transport and its clock fail as well.
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
        guard let conduct = await begin(.read) else { return .unavailable(Self.dead) }
        switch conduct.trouble {
        case .unreachable(let failure), .unreadable(let failure):
            disk.report(process, .failed(.read, failure, nil))
            await end(.read, conduct)
            return .unavailable(failure)
        case .full, .doneButFailed, nil:
            let reading = disk.record.map { StoreReading.found($0) } ?? .empty
            disk.report(process, .kept(reading))
            await end(.read, conduct)
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

    /// Reads the record and does what is decided, with nobody in between.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        guard let conduct = await begin(.update) else { throw Self.dead }
        if case .unreachable(let failure) = conduct.trouble {
            disk.report(process, .failed(.update, failure, nil))
            await end(.update, conduct)
            throw failure
        }
        let done = disk.state.withLock { $0.carryOut(conduct.trouble, decide) }
        disk.report(process, done.incident)
        if case .wrote(let session) = done.incident, session != done.before { disk.tellListeners() }
        if case .deleted(.some) = done.incident { disk.tellListeners() }
        if case .doneButFailed(let failure) = conduct.trouble {
            disk.report(process, .failed(.update, failure, done.update))
        }
        await end(.update, conduct)
        if hasDied.withLock({ $0 }) { throw Self.dead }
        if let failure = conduct.trouble?.failure(of: done.update) { throw failure }
        return done.reading
    }

    /// The lock that the processes share.
    public var lock: (any StoreLock)? {
        isShared ? Lock(store: self) : nil
    }

    /// One value for each change of the record, by whomever.
    public func changes() -> AsyncStream<Void>? {
        isShared && !hasDied.withLock({ $0 }) ? disk.changes(for: process) : nil
    }

    /// - Returns: `nil` where the process is dead.
    private func begin(_ operation: SimulatedDisk.Operation) async -> SimulatedDisk.Conduct? {
        guard !hasDied.withLock({ $0 }) else { return nil }
        disk.report(process, .asked(operation))
        let conduct = disk.conduct(process, operation)
        await wait(conduct.before)
        return hasDied.withLock { $0 } ? nil : conduct
    }

    private func end(_ operation: SimulatedDisk.Operation, _ conduct: SimulatedDisk.Conduct) async {
        if conduct.after > .zero { await wait(conduct.after) }
        if !hasDied.withLock({ $0 }) { disk.report(process, .told(operation)) }
    }

    private func wait(_ duration: Duration) async {
        await SeededScheduler.pause()
        // A disk goes on with what it has begun, whoever has lost patience.
        if duration > .zero {
            await Task { [disk] in try? await disk.time.sleep(until: disk.time.uptime + duration) }.value
        }
    }

    private static var dead: StorageFailure {
        StorageFailure(.unreachable, "the process was killed")
    }
}

// MARK: - The lock

extension SimulatedTokenStore {
    private struct Lock: StoreLock {
        let store: SimulatedTokenStore

        func acquire(lease: Duration) async throws -> any HeldStoreLock {
            try await store.acquire(lease: lease)
        }
    }

    private struct HeldLock: HeldStoreLock {
        let store: SimulatedTokenStore
        let id: Int

        var isHeld: Bool { store.disk.line.withLock { $0.holder?.id == id } }
        func release() { store.release(id) }
    }

    private func acquire(lease: Duration) async throws -> any HeldStoreLock {
        guard let conduct = await begin(.lock) else { throw Self.dead }
        if let failure = conduct.trouble?.failure {
            disk.report(process, .failed(.lock, failure, nil))
            throw failure
        }
        while true {
            try Task.checkCancellation()
            guard !hasDied.withLock({ $0 }) else { throw Self.dead }
            let now = disk.time.uptime
            let (id, loser, deadline) = disk.line.withLock { [process, hasDied] line -> (Int?, String?, Duration) in
                // Whoever dies now finds the lock when it is taken from the dead.
                if hasDied.withLock({ $0 }) { return (nil, nil, now) }
                if let holder = line.holder, now < holder.deadline { return (nil, nil, holder.deadline) }
                let loser = line.holder?.process
                line.lastID += 1
                line.holder = SimulatedDisk.Holder(id: line.lastID, process: process, deadline: now + lease)
                return (line.lastID, loser, .zero)
            }
            if let id {
                disk.report(process, loser.map { .tookLock(from: $0) } ?? .locked)
                return HeldLock(store: self, id: id)
            }
            await waitInLine(until: deadline)
        }
    }

    /// Returns when the lock is free, or its holder's lease is over, or the task is cancelled.
    private func waitInLine(until deadline: Duration) async {
        let id = disk.line.withLock { line in
            line.lastID += 1
            return line.lastID
        }
        let alarm = Task { [disk] in
            guard (try? await disk.time.sleep(until: deadline)) != nil else { return }
            disk.leaveLine(id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = disk.line.withLock { line in
                    guard line.holder != nil, !Task.isCancelled, disk.time.uptime < deadline else { return false }
                    line.inLine.append((id, continuation))
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: { [disk] in
            disk.leaveLine(id)
        }
        alarm.cancel()
    }

    private func release(_ id: Int) {
        guard !hasDied.withLock({ $0 }) else { return }
        let inLine = disk.line.withLock { line -> [CheckedContinuation<Void, Never>]? in
            guard line.holder?.id == id else { return nil }
            line.holder = nil
            defer { line.inLine = [] }
            return line.inLine.map(\.continuation)
        }
        guard let inLine else { return }
        disk.report(process, .unlocked)
        for continuation in inLine { continuation.resume() }
    }
}

extension SimulatedDisk {
    func leaveLine(_ id: Int) {
        let continuation = line.withLock { line -> CheckedContinuation<Void, Never>? in
            guard let index = line.inLine.firstIndex(where: { $0.id == id }) else { return nil }
            return line.inLine.remove(at: index).continuation
        }
        continuation?.resume()
    }
}

extension SimulatedDisk.State {
    struct Done {
        let before: StoredSession?
        let reading: StoreReading
        let update: StoreUpdate
        let incident: SimulatedDisk.Incident
    }

    fileprivate mutating func carryOut(
        _ trouble: SimulatedDisk.Trouble?, _ decide: (StoreReading) -> StoreUpdate
    ) -> Done {
        let before = record
        var reading = before.map { StoreReading.found($0) } ?? .empty
        if case .unreadable(let failure) = trouble { reading = .unavailable(failure) }
        let update = decide(reading)
        let incident: SimulatedDisk.Incident
        if case .full(let failure) = trouble, update != .keep {
            incident = .failed(.update, failure, update)
        } else {
            switch update {
            case .keep:
                incident = .kept(reading)
            case .write(let session):
                record = session
                incident = .wrote(session)
            case .delete:
                record = nil
                incident = .deleted(before)
            }
        }
        return Done(before: before, reading: reading, update: update, incident: incident)
    }
}

extension SimulatedDisk.Trouble {
    fileprivate var failure: StorageFailure? {
        switch self {
        case .unreachable(let failure), .unreadable(let failure), .full(let failure): failure
        case .doneButFailed: nil
        }
    }

    fileprivate func failure(of update: StoreUpdate) -> StorageFailure? {
        switch self {
        case .unreachable(let failure), .doneButFailed(let failure): failure
        case .full(let failure): update == .keep ? nil : failure
        case .unreadable: nil
        }
    }
}
