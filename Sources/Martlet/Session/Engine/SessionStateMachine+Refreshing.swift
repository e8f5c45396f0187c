#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// MARK: - Starting and joining

extension SessionStateMachine {
    /// Joins the refresh in progress or starts one. Fails during a backoff, when the budget is used up, and while the
    /// tokens of the last refresh must first be saved.
    mutating func joinRefresh(
        for waiter: WaiterID, because reason: SessionEvent.RefreshReason, at now: Duration
    ) -> WaiterReply {
        guard let session else { return .askAgain }
        if let error = session.withheld { return .failure(.refreshFailed(error)) }
        if session.isBusy {
            if session.isVisible { emit(.refreshJoined(session.record.stamp)) }
        } else if let error = startRefresh(because: reason, at: now) {
            if error.kind == .tooManyRefreshes { emit(.refreshBudgetExceeded(session.record.stamp)) }
            return .failure(.refreshFailed(error))
        }
        waiters.insert(waiter)
        return .wait
    }

    /// Starts a refresh, unless one is in progress.
    /// - Returns: The error if no refresh can start now.
    mutating func startRefresh(because reason: SessionEvent.RefreshReason, at now: Duration) -> RefreshError? {
        guard var session, !session.isBusy else { return nil }
        defer { self.session = session }
        if case .backingOff(let until) = session.refresh, now < until, let failure = session.lastFailure {
            return failure
        }
        session.wastefulRefreshes.removeAll { $0.startedAt + policy.refreshWindow <= now }
        if let charge = waste(session, reason, at: now) {
            guard session.wastefulRefreshes.count < policy.refreshBudget else {
                let opensAt = (session.wastefulRefreshes.first?.startedAt ?? now) + policy.refreshWindow
                return RefreshError(
                    .tooManyRefreshes, retryAfter: opensAt - now,
                    description: "the session has used its budget of \(policy.refreshBudget) early refreshes within"
                        + " \(policy.refreshWindow.inSeconds.shortText) s")
            }
            session.wastefulRefreshes.append(charge)
        }
        let job = RefreshJob(id: makeID(), record: session.record)
        session.refresh = .preparing(job)
        emit(.refreshStarted(job.stamp, reason))
        actions.append(.refresh(job))
        return nil
    }

    /// The charge of a refresh against the budget; `nil` if it does not count. It counts if it would replace a token
    /// that has hardly been of use. A backend whose tokens live for seconds needs many refreshes, and none of them
    /// counts.
    private func waste(
        _ session: ActiveSession, _ reason: SessionEvent.RefreshReason, at now: Duration
    ) -> WastefulRefresh? {
        switch (reason, session.deadlines) {
        case (.expired, _), (.expiringSoon, _): return nil
        case (_, let deadlines?): return now < deadlines.halfLife ? WastefulRefresh(startedAt: now) : nil
        case (_, nil) where !session.wasAccepted: return WastefulRefresh(startedAt: now)
        case (.forced, nil): return nil
        case (.rejected, nil):
            // The endpoint may reject every token. It does not if it accepts the next one.
            return WastefulRefresh(startedAt: now, provisional: session.record.stamp)
        }
    }
}

// MARK: - Probes

extension SessionStateMachine {
    /// The time that callers wait because another caller's request was rejected, before one of them probes the token.
    static let probeInterval = Duration.seconds(1)

    /// A caller waits only because another caller's request was rejected.
    mutating func standBy(_ waiter: WaiterID, _ patience: Patience, at now: Duration) {
        bystanders.insert(waiter)
        guard patience == .mayProbe else { return }
        probers.insert(waiter)
        scheduleProbe(after: now)
    }

    private mutating func scheduleProbe(after now: Duration) {
        guard !awaitsProbe else { return }
        awaitsProbe = true
        actions.append(.probe(at: now + Self.probeInterval))
    }

    /// The delay before a probe is over: one caller goes out with the rejected token. If its response says nothing or
    /// never arrives, another follows after the same delay.
    mutating func probeDue(at now: Duration) {
        awaitsProbe = false
        guard let session, case .rejected(let probes) = session.standing, !session.isExpired(at: now),
            let prober = probers.min()
        else { return }
        _ = waiterCancelled(prober)
        self.session?.standing = .rejected(probes: probes.union([prober]))
        emit(.tokenProbed(session.record.stamp))
        actions.append(.resume([prober], .token(session.credential(probedBy: prober))))
        if !probers.isEmpty { scheduleProbe(after: now) }
    }

    /// Lets the callers that waited because of another caller's rejection ask again.
    mutating func resumeBystanders() {
        guard !bystanders.isEmpty else { return }
        actions.append(.resume(bystanders.sorted(), .askAgain))
        waiters.subtract(bystanders)
        bystanders = []
        probers = []
    }
}

// MARK: - The steps of a refresh

extension SessionStateMachine {
    /// The store has answered the preparation of a refresh.
    mutating func prepared(
        _ job: RefreshJob, _ decision: StoreDecision, over snapshot: StoreSnapshot, failure: StorageError?,
        at moment: Moment
    ) {
        guard isPreparing(job), let session else { return emit(.refreshDiscarded(job.stamp)) }
        if decision.hasLostLock { return }
        let verdict = session.verdict(on: counted(snapshot.reading), for: session.record)
        if follow(verdict, snapshot.deadlines) { return }
        if case .unreadable(let error) = verdict, sharesStore {
            // Another process may have spent the token. A server that detects the reuse could end the session.
            return fail(job, RefreshError(error), at: moment)
        }
        if let failure {
            emit(.storeWriteFailed(failure))
        } else if case .write = decision.update {
            markWritten()
        }
        let record = session.record
        var earlier = record.unresolvedJournal
        // Another process may have sent the token after this one read the record.
        if earlier == nil, case .ours(let found?) = verdict { earlier = found.journal(of: record) }
        var job = job
        job.firstSentAt = job.firstSentAt ?? moment.uptime
        self.session?.record.journal = earlier ?? RefreshJournal(of: record, sentAt: moment.wallClock)
        self.session?.refresh = .sending(job, isInDoubt: earlier != nil)
    }

    /// The lock was checked after the preparation.
    mutating func lockChecked(_ job: RefreshJob, isHeld: Bool) {
        if isSending(job) {
            if !isHeld { session?.refresh = .preparing(job) }
        } else {
            emit(.refreshDiscarded(job.stamp))
        }
    }

    /// The next step of a refresh, after a step of its preparation.
    func preparation(of job: RefreshJob) -> Preparation {
        if isSending(job) { .send } else if isPreparing(job) { .startOver } else { .stop }
    }

    func isPreparing(_ job: RefreshJob) -> Bool {
        if case .preparing(let current)? = session?.refresh { current.id == job.id } else { false }
    }

    func isSending(_ job: RefreshJob) -> Bool {
        if case .sending(let current, _)? = session?.refresh { current.id == job.id } else { false }
    }

    /// Whether a refusal of this refresh's token waits to be confirmed: the lock was lost when the store was asked.
    func isConfirmingExpiry(of job: RefreshJob) -> Bool {
        session?.refusal != nil && session?.record.stamp == job.stamp
    }

    /// The lock could not be acquired again to confirm a refusal. The next refresh sends the token once more.
    mutating func confirmationFailed(_ job: RefreshJob, _ failure: RefreshError, at moment: Moment) {
        guard isConfirmingExpiry(of: job) else { return }
        fail(job, failure, at: moment)
        // Changes by other processes have waited for the answer to the confirmation.
        actions.append(.store(.read))
    }

    /// The refresher has returned or thrown. New tokens are used even if they arrive after the time limit, because the
    /// token that they replace is spent.
    /// - Returns: The job to run next, if a response was lost and the same token may be sent again.
    mutating func refreshFinished(_ job: RefreshJob, _ outcome: RefreshOutcome, at moment: Moment) -> RefreshJob? {
        guard let session, session.record.stamp == job.stamp else {
            discard(outcome, of: job)
            return nil
        }
        switch (outcome, session.refresh) {
        case (.success, .storing), (.success, .confirmingExpiry):
            discard(outcome, of: job)
        case (.success(let bundle, let lifetime, let estimatedExpiry), _):
            let deadlines = lifetime.map {
                TokenDeadlines(
                    obtainedAt: moment.uptime, remaining: $0.remaining, lifetime: $0.total, policy: policy,
                    jitter: moment.jitter)
            }
            let next = session.record.renewed(with: bundle, lifetime: lifetime?.total, estimatedExpiry)
            self.session?.refresh = .storing(next, deadlines)
            actions.append(.store(.write))
        case (.transient(let failure), .sending(var current, let isInDoubt)) where current.id == job.id:
            if failure.mayHaveSpentToken, let sentAt = current.firstSentAt,
                moment.uptime - sentAt < policy.rotationGrace, current.replays < policy.lostResponseReplays
            {
                current.replays += 1
                self.session?.refresh = .preparing(current)
                emit(.refreshReplayed(job.stamp, failure))
                return current
            }
            if !failure.mayHaveSpentToken, !isInDoubt {
                self.session?.record.journal = nil
                actions.append(.store(.clearJournal(session.record)))
            }
            fail(job, failure, at: moment)
        case (.terminal(let reason), .sending(let current, let isInDoubt)) where current.id == job.id:
            self.session?.refresh = .confirmingExpiry(isInDoubt ? .rotationLost : reason)
            actions.append(.store(.confirmExpiry))
        default:
            discard(outcome, of: job)
        }
        return nil
    }

    /// Ends a refresh with a transient error: fails its waiters and starts the backoff.
    private mutating func fail(_ job: RefreshJob, _ failure: RefreshError, at moment: Moment) {
        guard var session else { return }
        if !failure.neverReachedServer { session.failures += 1 }
        let wait = policy.backoff(afterFailures: session.failures, failure: failure, jitter: moment.jitter)
        session.refresh = .backingOff(until: moment.uptime + wait)
        session.lastFailure = failure
        // Until it expires, the token may still work at other endpoints, even if one has rejected it.
        session.standing = .good
        self.session = session
        emit(.refreshFailed(job.stamp, failure, backoff: wait))
        if failure.mayBeOfNetwork { actions.append(.awaitNetwork) }
        resumeWaiters(.failure(.refreshFailed(failure)))
    }

    /// The device has a network again, so the failure of an attempt without one says nothing about the next. The backoff
    /// ends, unless the server has asked for it.
    mutating func networkReturned() {
        guard case .backingOff? = session?.refresh, session?.lastFailure?.mayBeOfNetwork == true else { return }
        session?.refresh = .idle
    }

    /// Ends the session because the server no longer accepts its tokens.
    mutating func expire(because reason: ExpiryReason) {
        guard let session else { return }
        lastEnded = session.record.id
        mark = EndMark.later(mark, EndMark(session.record.order, expiry: reason))
        self.session = nil
        absence = .expired(reason, session.record.id)
        emit(.expired(session.record.id, reason))
        resumeWaiters(.failure(.expired(reason)))
    }

    private mutating func discard(_ outcome: RefreshOutcome, of job: RefreshJob) {
        emit(.refreshDiscarded(job.stamp))
        // If the same session continues with other tokens, do not revoke these: the server may revoke the whole
        // session.
        if session?.record.id != job.record.id, case .success(let bundle, _, _) = outcome {
            actions.append(.revoke(bundle, expiresAt: nil))
        }
    }
}

extension StoredSession {
    /// The record of the next rotation. Values that the server does not repeat stay as they were.
    fileprivate func renewed(with new: TokenBundle, lifetime: Duration?, _ estimatedExpiry: Date?) -> StoredSession {
        var record = self
        record.bundle = new
        record.bundle.refreshToken = new.refreshToken ?? bundle.refreshToken
        record.bundle.scope = new.scope ?? bundle.scope
        record.rotation += 1
        record.lifetime = lifetime
        record.estimatedExpiry = estimatedExpiry
        record.journal = nil
        record.bundle.keepDetails(of: bundle)
        return record
    }
}
