#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension TokenManager {
    /// Runs one refresh, from acquiring the lock to writing the record. It runs in a task of its own, so the
    /// cancellation of a caller does not affect it.
    /// - Parameter previous: The previous refresh. It holds the lock until its result is written, and a second
    ///   `acquire` could take the lock from this process itself when the lease ends.
    func performRefresh(_ first: SessionStateMachine.RefreshJob, after previous: Task<Void, Never>?) async {
        var next: SessionStateMachine.RefreshJob? = first
        var rounds = 0
        while let job = next {
            rounds += 1
            let lock: (any HeldStoreLock)?
            do throws(StorageError) {
                try await waitFor(previous)
                lock = try await acquireLock()
            } catch {
                publish(.storeLockFailed(error))
                lockFailed(error, for: job)
                return
            }
            // A lock that worked before was lost: another process may be refreshing the tokens of the record that would be
            // deleted. One that never works must not keep a session from ending.
            if rounds > 1, lock == nil, store.lock != nil,
                core.withLock({ $0.machine.isConfirmingExpiry(of: job) })
            {
                return lockFailed(StorageError(.unreachable, "the store's lock could not be acquired"), for: job)
            }
            core.withLock { $0.refreshLock = lock }
            if core.withLock({ $0.machine.isConfirmingExpiry(of: job) }) {
                submit(.confirmExpiry)
                next = nil
            } else {
                next = await refreshOnce(job, holding: lock)
            }
            // Write the result while holding the lock: the next process that acquires it must find the new record.
            await storePort.flush()
            // Nor must it find the record of a session that has ended since.
            if core.withLock({ $0.machine.needs(.end) }) { await storePort.flush() }
            core.withLock { $0.refreshLock = nil }
            if core.withLock({ $0.machine.isConfirmingExpiry(of: job) }) { next = job }
            // A process that loses its lock again and again is suspended most of the time.
            if rounds > Self.maximumRounds, let job = next {
                next = nil
                lockFailed(StorageError(.unreachable, "the store's lock was lost again and again"), for: job)
            }
            lock?.release()
        }
    }

    /// The number of times one refresh acquires the lock: for itself, for its replay, and after it has lost the lock.
    private static let maximumRounds = 4

    /// Prepares and sends a refresh.
    /// - Returns: The job to run next; `nil` if the refresh is over.
    private func refreshOnce(
        _ job: SessionStateMachine.RefreshJob, holding lock: (any HeldStoreLock)?
    ) async -> SessionStateMachine.RefreshJob? {
        switch await prepare(job, holding: lock) {
        case .startOver:
            return job
        case .stop:
            // The journal may be written late, and is removed again while the lock is held.
            await storePort.flush()
            return nil
        case .send:
            return finishRefresh(job, await sendRefresh(job))
        }
    }

    private func lockFailed(_ error: StorageError, for job: SessionStateMachine.RefreshJob) {
        guard core.withLock({ $0.machine.isConfirmingExpiry(of: job) }) else {
            return report(StorePort.Answer(error), to: .prepare(job))
        }
        let moment = moment
        transition { machine in machine.confirmationFailed(job, RefreshError(error), at: moment) }
    }

    private func waitFor(_ previous: Task<Void, Never>?) async throws(StorageError) {
        guard store.lock != nil, let previous else { return }
        guard case .failure = await storeLimits.run(within: policy.storeTimeout, { await previous.value }) else {
            return
        }
        throw StorageError(.unreachable, "the store has not written the result of the previous refresh yet")
    }

    /// Reads the store again and writes the journal, while holding the lock.
    private func prepare(
        _ job: SessionStateMachine.RefreshJob, holding lock: (any HeldStoreLock)?
    ) async -> SessionStateMachine.Preparation {
        await perform(.prepare(job))
        let preparation = core.withLock { $0.machine.preparation(of: job) }
        guard preparation == .send, let lock else { return preparation }
        // The process may have been stopped while it wrote, and then another one may have taken the lock over.
        let isHeld = await lock.isStillHeld()
        return transition { machine in
            machine.lockChecked(job, isHeld: isHeld)
            return machine.preparation(of: job)
        }
    }

    /// - Returns: The lock; `nil` if the store has none or it failed, in which case the refresh continues without it.
    /// - Throws: An error if the lock is not acquired in time, or its file cannot be opened because the device is
    ///   locked. Another process may hold it, so the refresh must not continue.
    private func acquireLock() async throws(StorageError) -> (any HeldStoreLock)? {
        guard let lock = store.lock else { return nil }
        // Long enough for a stopped process whose lease must end, and for another one queued behind it.
        let limit = policy.lockLease * 2 + policy.storeTimeout
        let result = await deliver(within: limit, by: storeLimits) { [policy] in
            try await lock.acquire(lease: policy.lockLease)
        } late: { held in
            held.release()
        }
        switch result {
        case .success(let held): return held
        case .failure(let error as TimeLimitError):
            throw StorageError(
                .unreachable, "the store's lock could not be acquired within \(error.limit.inSeconds.shortText) s")
        case .failure(let error):
            let error = StorageError(wrapping: error)
            if error.kind == .locked { throw error }
            publish(.storeLockFailed(error))
            return nil
        }
    }

    /// Runs the refresher within its time limit.
    private func sendRefresh(_ job: SessionStateMachine.RefreshJob) async -> Result<TokenBundle, any Error> {
        guard let owner = core.withLock({ $0.machine.owner(of: job) }) else { return .failure(CancellationError()) }
        let refreshing = Self.refreshing.merging([ObjectIdentifier(self): owner]) { $1 }
        return await Self.$refreshing.withValue(refreshing) {
            await deliver(within: policy.attemptTimeout, by: limits, graceAfterSleep: Self.wakeGrace) {
                [refresher, tokenEndpoint] in
                // The tokens of an earlier attempt may have arrived.
                guard self.core.withLock({ $0.machine.isSending(job) }) else { throw CancellationError() }
                return try await refresher.refresh(job.record.bundle, over: tokenEndpoint)
            } late: { bundle in
                _ = self.finishRefresh(job, .success(bundle))
            }
        }
    }

    private func finishRefresh(
        _ job: SessionStateMachine.RefreshJob, _ result: Result<TokenBundle, any Error>
    ) -> SessionStateMachine.RefreshJob? {
        let outcome = SessionStateMachine.RefreshOutcome(result, wallClock: time.wallClock)
        let moment = moment
        return transition { machine in machine.refreshFinished(job, outcome, at: moment) }
    }

    /// The time after the device has woken in which a response may still arrive, if the time limit passed while the
    /// device slept.
    private static let wakeGrace = Duration.seconds(2)

    /// Runs a step of a refresh whose result must not be lost, even if it arrives at or after the time limit. It runs at
    /// the priority of the most urgent waiter.
    /// - Parameters:
    ///   - limit: The time to wait for the result.
    ///   - limits: Enforces the limit.
    ///   - grace: The additional time to wait if the device slept when the limit expired.
    ///   - late: Called with a result that arrives after the limit.
    private func deliver<Value: Sendable>(
        within limit: Duration, by limits: TimeLimits, graceAfterSleep grace: Duration = .zero,
        _ operation: @escaping @Sendable () async throws -> Value,
        late: @escaping @Sendable (Value) -> Void
    ) async -> Result<Value, any Error> {
        let delivery = Locked(Delivery<Value>.awaited)
        let result = await limits.run(within: limit, graceAfterSleep: grace) {
            let step = self.startStep(operation)
            let value = try await withTaskCancellationHandler {
                try await step.value
            } onCancel: {
                step.cancel()
            }
            let isLate = delivery.withLock { delivery in
                if case .timedOut = delivery { return true }
                delivery = .arrived(value)
                return false
            }
            if isLate { late(value) }
            return value
        }
        guard case .failure(let error) = result, error is TimeLimitError else { return result }
        return delivery.withLock { delivery in
            if case .arrived(let value) = delivery { return .success(value) }
            delivery = .timedOut
            return result
        }
    }

    /// Starts a task that can be escalated. The task around it is not awaited, so no priority reaches it.
    private func startStep<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        let own = Task.currentPriority
        return core.withLock { core in
            let step = Task(priority: max(core.refresh?.priority ?? own, own), operation: operation)
            core.refresh?.escalateStep = { priority in
                Task.detached(priority: priority) { _ = try? await step.value }
            }
            return step
        }
    }
}

/// Whether the result or the time limit came first.
private enum Delivery<Value: Sendable> {
    case awaited
    case arrived(Value)
    case timedOut
}

extension SessionStateMachine.RefreshOutcome {
    /// Classifies the result of a refresher: only a ``RefreshRejectedError`` is terminal.
    init(_ result: Result<TokenBundle, any Error>, wallClock: Date) {
        switch result {
        case .success(let bundle):
            let lifetime = TokenLifetime(of: bundle, wallClock: wallClock)
            self = .success(
                bundle.storable, lifetime,
                estimatedExpiry: lifetime.map { wallClock.addingTimeInterval($0.remaining.inSeconds) })
        case .failure(let rejection as RefreshRejectedError):
            self = .terminal(.refreshTokenRejected(code: rejection.code.map(Redaction.redact)))
        case .failure(let failure as RefreshError):
            self = .transient(failure)
        case .failure(let error as TimeLimitError):
            self = .transient(
                RefreshError(
                    .timedOut,
                    description: "the token endpoint did not respond within \(error.limit.inSeconds.shortText) s"))
        case .failure(let error):
            self = .transient(RefreshError(.refresher, description: Redaction.redact(String(describing: error))))
        }
    }
}
