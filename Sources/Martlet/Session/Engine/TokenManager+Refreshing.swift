#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension TokenManager {
    /// Runs one refresh, from acquiring the lock to writing the record. It runs in a task of its own, so the
    /// cancellation of a caller does not affect it.
    func performRefresh(_ first: SessionStateMachine.RefreshJob) async {
        var next: SessionStateMachine.RefreshJob? = first
        while let job = next {
            let (lock, shouldSend) = await prepareRefresh(job)
            defer { lock?.release() }
            guard shouldSend else { return }
            let result = await sendRefresh(job)
            core.withLock { $0.refreshLock = lock }
            next = finishRefresh(job, result)
            // Write the result while holding the lock: the next process that acquires it must find the new record.
            await storeQueue.flush()
            core.withLock { $0.refreshLock = nil }
            if let lock, !lock.isHeld { await markSuccessorInDoubt(of: job) }
        }
    }

    /// The lock was lost during the refresh, so another process may have sent the same token, and a server that detects
    /// the reuse may end the session. A rejection after this point reports `rotationLost`, not `refreshTokenRejected`.
    private func markSuccessorInDoubt(of job: SessionStateMachine.RefreshJob) async {
        let now = time.wallClock
        storeQueue.enqueue {
            await self.updateRecord(SessionStateMachine.inDoubtDecision(of: job, since: now)) { _, _ in }
        }
        await storeQueue.flush()
    }

    /// What follows from the preparation of a refresh.
    private enum Preparation: Sendable {
        /// Send the refresh token now.
        case send
        /// The refresh is no longer needed, or must not be sent.
        case stop
        /// The lock was lost, so what was read may be outdated.
        case startOver
    }

    /// Acquires the lock, reads the store again and writes the journal.
    /// - Returns: The lock, if the store has one, and whether to send the refresh token.
    private func prepareRefresh(
        _ job: SessionStateMachine.RefreshJob
    ) async -> (lock: (any HeldStoreLock)?, shouldSend: Bool) {
        while true {
            let lock: (any HeldStoreLock)?
            do throws(StorageError) {
                try await waitForPreviousRefresh()
                lock = try await acquireLock()
            } catch {
                publish(.storeFailed(.lock, error))
                return (nil, decideWithoutStore(job, error) == .send)
            }
            switch await writeJournal(job, holding: lock) {
            case .send: return (lock, true)
            case .stop: return (lock, false)
            case .startOver: lock?.release()
            }
        }
    }

    /// Waits until the previous refresh of this process has written its result. Until then that refresh holds the lock,
    /// and a second `acquire` could take it from ourselves when its lease ends.
    private func waitForPreviousRefresh() async throws(StorageError) {
        guard core.withLock({ $0.refreshLock != nil }) else { return }
        let failure: StorageError? = await inStoreQueue { deliver in
            deliver(nil)
        } onDelay: { failure in
            failure
        }
        if let failure { throw failure }
    }

    /// - Returns: The lock; `nil` if the store has none or it failed, in which case the refresh continues without it.
    /// - Throws: If the lock is not acquired in time. Another process may hold it, so the refresh must not continue.
    private func acquireLock() async throws(StorageError) -> (any HeldStoreLock)? {
        guard let lock = store.lock else { return nil }
        // Long enough for a stopped process whose lease must end, and for another one queued behind it.
        let limit = policy.lockLease * 2 + policy.storeTimeout
        let result = await storeLimits.deliver(within: limit) { [policy] in
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
            publish(.storeFailed(.lock, StorageError(wrapping: error)))
            return nil
        }
    }

    /// Reads the store again and writes the journal, while holding the lock.
    private func writeJournal(
        _ first: SessionStateMachine.RefreshJob, holding lock: (any HeldStoreLock)?
    ) async -> Preparation {
        await inStoreQueue { deliver in
            guard let job = self.confirmPending(first) else { return deliver(.stop) }
            let journal = self.journal(of: job)
            let decide = SessionStateMachine.journalDecision(journal, for: job)
            let isWrite = Locked(false)
            let succeededLate = await self.updateRecord { reading in
                let update = decide(reading)
                isWrite.withLock { $0 = if case .write = update { true } else { false } }
                return update
            } then: { snapshot, failure in
                deliver(self.decide(job, holding: lock, snapshot, journal, failure))
            }
            if succeededLate, isWrite.withLock({ $0 }) {
                self.transition { machine in machine.savedLate(job.record) }
            }
        } onDelay: { failure in
            self.decideWithoutStore(first, failure)
        }
    }

    /// Runs an operation in the store queue.
    /// - Parameters:
    ///   - operation: Delivers the result once. It may continue after that; the next operation waits until it returns.
    ///   - onDelay: Makes the result if an earlier operation blocks the store for too long. The operation then never
    ///     runs.
    private func inStoreQueue<Value: Sendable>(
        _ operation: @escaping @Sendable (_ deliver: @escaping @Sendable (Value) -> Void) async -> Void,
        onDelay: @escaping @Sendable (StorageError) -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            let startTimer = enqueueOnStore { isLate in
                if !isLate { await operation { continuation.resume(returning: $0) } }
            } onDelay: { failure in
                continuation.resume(returning: onDelay(failure))
            }
            startTimer()
        }
    }

    /// The refresh is decided without a snapshot of the store, and the journal is not written.
    private func decideWithoutStore(_ first: SessionStateMachine.RefreshJob, _ failure: StorageError) -> Preparation {
        guard let job = confirmPending(first) else { return .stop }
        return decide(job, holding: nil, .unavailable(failure), journal(of: job), failure)
    }

    /// The job as the machine knows it now; `nil` if the refresh is no longer needed.
    private func confirmPending(_ first: SessionStateMachine.RefreshJob) -> SessionStateMachine.RefreshJob? {
        if let job = core.withLock({ $0.machine.pending(first) }) { return job }
        transition { machine in machine.refreshAbandoned(first) }
        return nil
    }

    private func journal(of job: SessionStateMachine.RefreshJob) -> RefreshJournal {
        let token = job.record.bundle.refreshToken ?? job.record.bundle.accessToken
        return RefreshJournal(startedAt: time.wallClock, fingerprint: RefreshJournal.fingerprint(of: token))
    }

    /// Reports what the store contained to the machine, which decides whether the refresh token is sent.
    private func decide(
        _ job: SessionStateMachine.RefreshJob, holding lock: (any HeldStoreLock)?, _ snapshot: StoreSnapshot,
        _ journal: RefreshJournal, _ failure: StorageError?
    ) -> Preparation {
        // If this process was stopped and lost the lock, its snapshot may be outdated: start over. Without a snapshot
        // the lock is not checked, because it may be on the same disk that does not respond.
        if snapshot.reading.wasReadable, let lock, !lock.isHeld { return .startOver }
        let now = time.uptime
        let jitter = random(in: 0...1)
        let shouldSend = transition { machine in
            machine.refreshPrepared(job, over: snapshot, journal: journal, failure: failure, at: now, jitter: jitter)
        }
        return shouldSend ? .send : .stop
    }

    /// Runs the refresher within its time limit.
    private func sendRefresh(_ job: SessionStateMachine.RefreshJob) async -> Result<TokenBundle, any Error> {
        let refreshing = Self.refreshing.union([ObjectIdentifier(self)])
        return await Self.$refreshing.withValue(refreshing) {
            await limits.deliver(within: policy.attemptTimeout) { [refresher, tokenEndpoint] in
                // A task that can be escalated: the one around it is not awaited, so no priority reaches it.
                let exchange = Task { try await refresher.refresh(job.record.bundle, over: tokenEndpoint) }
                self.core.withLock { $0.refresh?.exchange = exchange }
                return try await withTaskCancellationHandler {
                    try await exchange.value
                } onCancel: {
                    exchange.cancel()
                }
            } late: { bundle in
                self.acceptLate(bundle, for: job)
            }
        }
    }

    private func finishRefresh(
        _ job: SessionStateMachine.RefreshJob, _ result: Result<TokenBundle, any Error>
    ) -> SessionStateMachine.RefreshJob? {
        let outcome = SessionStateMachine.RefreshOutcome(result, wallClock: time.wallClock)
        let now = time.uptime
        let jitter = random(in: 0...1)
        return transition { machine in machine.refreshFinished(job, outcome, at: now, jitter: jitter) }
    }

    /// Accepts tokens that arrived after the time limit: the refresh token that they replace is spent.
    private func acceptLate(_ bundle: TokenBundle, for job: SessionStateMachine.RefreshJob) {
        let outcome = SessionStateMachine.RefreshOutcome(.success(bundle), wallClock: time.wallClock)
        let now = time.uptime
        let jitter = random(in: 0...1)
        transition { machine in machine.refreshFinishedLate(job, outcome, at: now, jitter: jitter) }
    }
}

extension TimeLimits {
    /// Runs an operation whose result must not be lost, even if it arrives at or after the time limit.
    /// - Parameters:
    ///   - limit: How long to wait for the result.
    ///   - late: Called with a result that arrives after the limit.
    fileprivate func deliver<Value: Sendable>(
        within limit: Duration, _ operation: @escaping @Sendable () async throws -> Value,
        late: @escaping @Sendable (Value) -> Void
    ) async -> Result<Value, any Error> {
        let delivery = Locked(Delivery<Value>.awaited)
        let result = await run(within: limit) {
            let value = try await operation()
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
                bundle.withoutServerDate, lifetime,
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
