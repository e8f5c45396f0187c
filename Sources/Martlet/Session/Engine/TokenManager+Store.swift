#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// These operations run in the store queue, one at a time.
extension TokenManager {
    typealias StoreSnapshot = SessionStateMachine.StoreSnapshot

    func load() async {
        await readRecord { snapshot in
            self.transition { machine in machine.loaded(snapshot) }
        }
    }

    func save(_ first: SessionStateMachine.SaveJob) async {
        let (current, lock) = core.withLock { ($0.machine.pending(first), $0.refreshLock) }
        guard let job = current else { return }
        let now = time.wallClock
        // Check the lock inside the update, when no other process can change the record. If it is lost by then, another
        // process may have read the old record and sent the same refresh token, so the new tokens are in doubt.
        let doubt: @Sendable () -> Date? = { if let lock, !lock.isHeld { now } else { nil } }
        let succeededLate = await updateRecord(SessionStateMachine.saveDecision(job, inDoubtSince: doubt)) {
            snapshot, failure in
            self.transition { machine in machine.saveFinished(job, over: snapshot, failure: failure) }
        }
        if succeededLate { transition { machine in machine.savedLate(job.record) } }
    }

    func confirmExpiry(_ job: SessionStateMachine.RefreshJob) async {
        await updateRecord(SessionStateMachine.expiryDecision(job)) { snapshot, failure in
            self.transition { machine in machine.expiryCheckFinished(job, over: snapshot, failure: failure) }
        }
    }

    func delete(_ deletion: SessionStateMachine.Deletion) async {
        if core.withLock({ $0.machine.isObsolete(deletion) }) { return }
        await updateRecord(SessionStateMachine.deletionDecision(deletion)) { snapshot, failure in
            var failure = failure
            if deletion.sparesUnreadable, case .unavailable(let error) = snapshot.reading { failure = failure ?? error }
            self.transition { [failure] machine in
                machine.deletionFinished(deletion.id, over: snapshot, failure: failure)
            }
        }
    }

    /// Enqueues an operation that callers wait for. If earlier operations block the store for too long, `report` is
    /// called with an error.
    /// - Returns: A closure that starts the clock of the delay, to be called without a lock held.
    func enqueueOnStore(
        _ operation: @escaping @Sendable (_ isLate: Bool) async -> Void,
        onDelay report: @escaping @Sendable (StorageError) -> Void
    ) -> @Sendable () -> Void {
        storeQueue.enqueue(within: policy.storeTimeout, by: storeLimits, operation) { [storeTimedOut] in
            report(storeTimedOut)
        }
    }

    /// Updates the record and reports what the store contained before, and the error if the update failed.
    ///
    /// An update that takes too long is reported as failed, so that callers do not wait forever. The next operation
    /// still starts only when it has finished; otherwise an old record could overwrite a newer one.
    /// - Returns: Whether the update succeeded after it had been reported as failed.
    @discardableResult
    func updateRecord(
        _ decide: @escaping @Sendable (StoreReading) -> StoreUpdate,
        then report: @escaping @Sendable (StoreSnapshot, StorageError?) -> Void
    ) async -> Bool {
        let snapshot = Locked<StoreReading?>(nil)
        let work = Task { [store] () -> StorageError? in
            // Watch before an update too: an app may sign in before anything reads the store.
            watch()
            do {
                _ = try await store.update { reading in
                    snapshot.withLock { $0 = reading }
                    return decide(reading)
                }
                return nil
            } catch {
                return StorageError(wrapping: error)
            }
        }
        let result = await storeLimits.run(within: policy.storeTimeout) { await work.value }
        let failure: StorageError? =
            switch result {
            case .success(let failure): failure
            case .failure: storeTimedOut
            }
        let reading = snapshot.withLock { $0 } ?? .unavailable(failure ?? storeTimedOut)
        report(StoreSnapshot(reading: reading, deadlines: deadlines(in: reading)), failure)
        return await work.value == nil && failure != nil
    }

    /// Reads the record and reports it. A result that arrives after the time limit is passed to the machine as a
    /// snapshot.
    private func readRecord(
        then report: @escaping @Sendable (StoreSnapshot) -> Void
    ) async {
        let work = Task { [store] in
            watch()
            return await store.read()
        }
        let result = await storeLimits.run(within: policy.storeTimeout) { await work.value }
        let reading = (try? result.get()) ?? .unavailable(storeTimedOut)
        let epoch = core.withLock { $0.machine.epoch }
        report(StoreSnapshot(reading: reading, deadlines: deadlines(in: reading)))
        let late = await work.value
        // Use a late result too: a user may take longer to enter a passcode than the store's time limit.
        if case .failure = result {
            let snapshot = StoreSnapshot(reading: late, deadlines: deadlines(in: late))
            transition { machine in machine.snapshotTaken(snapshot, since: epoch) }
        }
    }

    private var storeTimedOut: StorageError {
        StorageError(.unreachable, "the store did not respond within \(policy.storeTimeout.inSeconds.shortText) s")
    }

    /// The deadlines of the token in a stored record, estimated from the wall clock: the uptime at which another
    /// process or an earlier launch received the token is unknown.
    func deadlines(in reading: StoreReading) -> TokenDeadlines? {
        guard case .found(let record) = reading, let lifetime = record.lifetime, TokenLifetime.isPlausible(lifetime),
            let left = record.estimatedExpiry.flatMap({ Duration(untrusted: $0.timeIntervalSince(time.wallClock)) })
        else { return nil }
        let remaining = min(max(left, .zero), lifetime)
        return TokenDeadlines(
            obtainedAt: time.uptime - (lifetime - remaining), remaining: lifetime, lifetime: lifetime, policy: policy,
            jitter: random(in: 0...1))
    }
}

// MARK: - Changes by other processes

extension TokenManager {
    /// Starts watching the store for changes by other processes, once.
    private func watch() {
        // Only the store queue calls this, one operation at a time. The lock is not held, because the store is code of
        // the app.
        guard core.withLock({ $0.watch == nil }), let changes = store.changes() else { return }
        let watch = Task { [weak self] in
            for await _ in changes {
                guard let self else { return }
                self.takeSnapshot()
            }
        }
        core.withLock { $0.watch = watch }
    }

    /// Reads the store again, because another process may have changed it.
    /// - Parameter failures: The number of consecutive snapshots that could not be used.
    private func takeSnapshot(afterFailures failures: Int = 0) {
        storeQueue.enqueue { await self.takeSnapshotNow(afterFailures: failures) }
    }

    private func takeSnapshotNow(afterFailures failures: Int) async {
        let epoch = core.withLock { $0.machine.epoch }
        await readRecord { snapshot in
            // The store announces a change only once, so an unused snapshot must be repeated.
            switch self.transition({ machine in machine.snapshotTaken(snapshot, since: epoch) }) {
            case .reconciled: break
            case .outdated: self.takeSnapshot()
            case .unavailable: self.scheduleSnapshotRetry(afterFailures: failures + 1)
            }
        }
    }

    /// Takes another snapshot after a delay. Only one delay runs at a time.
    private func scheduleSnapshotRetry(afterFailures failures: Int) {
        let isFirst = core.withLock { core in
            defer { core.awaitsSnapshot = true }
            return !core.awaitsSnapshot
        }
        guard isFirst else { return }
        let wait = policy.saveRetry(afterFailures: failures)
        Task { [weak self, time] in
            guard (try? await time.sleep(until: time.uptime + wait)) != nil else { return }
            self?.core.withLock { $0.awaitsSnapshot = false }
            self?.takeSnapshot(afterFailures: failures)
        }
    }
}

extension StorageError {
    init(wrapping error: any Error) {
        self = error as? StorageError ?? StorageError(.unreachable, Redaction.redact(String(describing: error)))
    }
}
