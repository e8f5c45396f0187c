#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// MARK: - The steps of a refresh

extension SessionStateMachine {
    /// The preparation of a refresh has finished.
    /// - Parameters:
    ///   - job: The refresh.
    ///   - snapshot: What the store contained before the journal was written, or why it could not be read.
    ///   - journal: The journal that the preparation tried to write into the record.
    ///   - failure: Why it could not be written; `nil` if it was.
    ///   - now: The uptime.
    ///   - jitter: From 0 to 1, for the backoff.
    /// - Returns: Whether to send the refresh token now.
    mutating func refreshPrepared(
        _ job: RefreshJob, over snapshot: StoreSnapshot, journal: RefreshJournal, failure: StorageError?,
        at now: Duration, jitter: Double
    ) -> Bool {
        guard case .signedIn(var session) = state, case .preparing(var current) = session.phase, current.id == job.id
        else {
            refreshAbandoned(job)
            return false
        }
        var found: StoredSession?
        switch RecordComparison(snapshot.reading, with: job.record) {
        case .newer(let record):
            adopt(record, snapshot.deadlines, &session)
            return false
        case .otherSession(let record):
            guard job.yields(to: record) else { break }
            switchTo(record, snapshot.deadlines, from: session)
            return false
        case .gone:
            guard job.hasBeenStored else { break }
            signedOutElsewhere(session)
            return false
        case .unreadable(let error):
            // Another process may have spent the token. A server that detects the reuse could end the session.
            guard sharesStore else { break }
            fail(&session, job, RefreshError(error), at: now, jitter: jitter)
            return false
        case .same(let record): found = record
        case .older: break
        }
        if let failure {
            actions.append(.emit(.storeFailed(.write, failure)))
        }
        // Writing the journal has also stored the record.
        if failure == nil, snapshot.reading.wasReadable { session.hasBeenStored = true }
        let doubts = [job.record.unresolvedJournal, found?.unresolvedJournal].compactMap(\.self)
        // If both records have a journal, one about this token itself counts more than one inherited from its
        // predecessor. Another process may have sent the token after this process read the record.
        let earlier = doubts.first { !$0.isInherited } ?? doubts.first
        session.record.journal = earlier?.markedAsSent ?? journal
        current.firstSentAt = current.firstSentAt ?? now
        current.mayHaveBeenSentBefore = earlier?.isInherited == false
        session.phase = .sending(current, isInDoubt: earlier != nil)
        state = .signedIn(session)
        return true
    }

    /// The job with the current value of `hasBeenStored`; `nil` if the refresh is no longer needed. Asked when the job's
    /// operation starts in the store queue.
    func pending(_ job: RefreshJob) -> RefreshJob? {
        guard case .signedIn(let session) = state, case .preparing(var current) = session.phase, current.id == job.id
        else { return nil }
        current.hasBeenStored = session.hasBeenStored
        current.replaceable = session.replaceable
        return current
    }

    /// A refresh became obsolete before it sent anything.
    mutating func refreshAbandoned(_ job: RefreshJob) {
        actions.append(.emit(.refreshDiscarded(job.stamp, discardReason(of: job))))
    }

    /// The refresher has returned or thrown.
    /// - Returns: The job to run next, if a response was lost and the same token may be sent again.
    mutating func refreshFinished(
        _ job: RefreshJob, _ outcome: RefreshOutcome, at now: Duration, jitter: Double
    ) -> RefreshJob? {
        guard case .signedIn(var session) = state, case .sending(var current, let isInDoubt) = session.phase,
            current.id == job.id
        else {
            discard(outcome, of: job)
            return nil
        }
        switch outcome {
        case .success(let bundle, let lifetime, let estimatedExpiry):
            // An earlier request with the same token may still reach the server, which then detects reuse.
            let mayArriveTwice = current.mayHaveBeenSentBefore && policy.rotationGrace == .zero
            startSaving(
                &session, bundle, lifetime, estimatedExpiry: estimatedExpiry, marksInDoubt: mayArriveTwice, at: now,
                jitter: jitter)
        case .transient(let failure):
            if failure.mayHaveSpentToken, let sentAt = current.firstSentAt, now - sentAt < policy.rotationGrace,
                current.replays < policy.lostResponseReplays
            {
                current = RefreshJob(
                    id: current.id, record: session.record, hasBeenStored: session.hasBeenStored,
                    replaceable: session.replaceable, firstSentAt: sentAt, replays: current.replays + 1)
                session.phase = .preparing(current)
                state = .signedIn(session)
                actions.append(.emit(.refreshReplayed(job.stamp, failure)))
                return current
            }
            if !failure.mayHaveSpentToken, !isInDoubt {
                session.record.journal = nil
                actions.append(.clearJournal(session.record))
            }
            fail(&session, job, failure, at: now, jitter: jitter)
        case .terminal(let reason):
            session.phase = .confirmingExpiry(current, isInDoubt ? .rotationLost : reason)
            state = .signedIn(session)
            actions.append(.confirmExpiry(current))
        }
        return nil
    }

    /// A refresher returned tokens after its time limit. They are used, because the token that they replace is spent.
    mutating func refreshFinishedLate(
        _ job: RefreshJob, _ outcome: RefreshOutcome, at now: Duration, jitter: Double
    ) {
        guard case .success(let bundle, let lifetime, let estimatedExpiry) = outcome else { return }
        guard case .signedIn(var session) = state, session.record.stamp == job.stamp else {
            return discard(outcome, of: job)
        }
        switch session.phase {
        case .settled, .preparing, .sending:
            // The lock has been released since, so another process may have sent the same token.
            startSaving(
                &session, bundle, lifetime, estimatedExpiry: estimatedExpiry, marksInDoubt: sharesStore, at: now,
                jitter: jitter)
        case .saving, .confirmingExpiry:
            actions.append(.emit(.refreshDiscarded(job.stamp, .superseded)))
        }
    }

    /// Starts writing a record with the new tokens. They are handed out after that.
    private mutating func startSaving(
        _ session: inout ActiveSession, _ bundle: TokenBundle, _ lifetime: TokenLifetime?, estimatedExpiry: Date?,
        marksInDoubt: Bool, at now: Duration, jitter: Double
    ) {
        let journal = session.record.journal
        var record = session.record
        record.bundle = bundle
        record.bundle.refreshToken = bundle.refreshToken ?? session.record.bundle.refreshToken
        record.bundle.scope = bundle.scope ?? session.record.bundle.scope
        record.rotation += 1
        record.lifetime = lifetime?.total
        record.estimatedExpiry = estimatedExpiry
        record.journal = nil
        if marksInDoubt, let journal { record = record.markingTokenInDoubt(since: journal.startedAt) }
        let deadlines = lifetime.map {
            TokenDeadlines(
                obtainedAt: now, remaining: $0.remaining, lifetime: $0.total, policy: policy, jitter: jitter)
        }
        let job = SaveJob(
            id: makeID(), record: record, deadlines: deadlines, hasBeenStored: session.hasBeenStored,
            replaceable: session.replaceable)
        session.phase = .saving(job)
        state = .signedIn(session)
        actions.append(.save(job))
    }

    /// Ends a refresh with a transient error: fails its waiters and starts the backoff.
    private mutating func fail(
        _ session: inout ActiveSession, _ job: RefreshJob, _ failure: RefreshError, at now: Duration,
        jitter: Double
    ) {
        if !failure.neverReachedServer { session.failures += 1 }
        let wait = policy.backoff(afterFailures: session.failures, failure: failure, jitter: jitter)
        session.phase = .settled
        session.backoff = Backoff(until: now + wait, failure: failure)
        // Until it expires, the token may still work at other endpoints, even if one has rejected it.
        session.isRejected = false
        actions.append(.emit(.refreshFailed(job.stamp, failure, backoff: wait)))
        resume(session.waiters, .failure(.refreshFailed(failure)))
        session.waiters = []
        state = .signedIn(session)
    }

    /// Ends the session because the server no longer accepts its tokens.
    mutating func expire(_ session: ActiveSession, because reason: ExpiryReason) {
        endSession(.expired(reason))
        state = .expired(reason, session.record.id)
        actions.append(.emit(.expired(session.record.id, reason)))
    }
}

// MARK: - Starting and joining

extension SessionStateMachine {
    /// Joins the refresh in progress or starts one. Fails during a backoff and when the budget is used up.
    mutating func joinRefresh(
        _ session: inout ActiveSession, for waiter: WaiterID, because reason: SessionEvent.RefreshReason,
        at now: Duration
    ) -> WaiterReply {
        switch session.phase {
        case .preparing(let job), .sending(let job, _), .confirmingExpiry(let job, _):
            actions.append(.emit(.refreshJoined(job.stamp)))
        case .saving:
            if session.isVisible { actions.append(.emit(.refreshJoined(session.record.stamp))) }
        case .settled:
            if let backoff = session.backoff, now < backoff.until {
                return .failure(.refreshFailed(backoff.failure))
            }
            guard hasBudget(&session, for: reason, at: now) else { return budgetExceeded(&session, at: now) }
            start(&session, because: reason, at: now)
        }
        session.waiters.insert(waiter)
        return .wait
    }

    /// Starts a refresh without a waiter, unless there is a backoff or no budget.
    mutating func startBackgroundRefresh(
        _ session: inout ActiveSession, because reason: SessionEvent.RefreshReason, at now: Duration
    ) {
        guard case .settled = session.phase else { return }
        if let backoff = session.backoff, now < backoff.until { return }
        guard hasBudget(&session, for: reason, at: now) else { return }
        start(&session, because: reason, at: now)
    }

    private mutating func start(
        _ session: inout ActiveSession, because reason: SessionEvent.RefreshReason, at now: Duration
    ) {
        let job = RefreshJob(
            id: makeID(), record: session.record, hasBeenStored: session.hasBeenStored,
            replaceable: session.replaceable)
        if isWasteful(session, reason, at: now) { session.wastefulRefreshes.append(now) }
        session.phase = .preparing(job)
        actions.append(.emit(.refreshStarted(job.stamp, reason)))
        actions.append(.refresh(job))
    }

    /// Whether the budget of ``SessionPolicy/refreshBudget`` allows another refresh now.
    private func hasBudget(
        _ session: inout ActiveSession, for reason: SessionEvent.RefreshReason, at now: Duration
    ) -> Bool {
        session.wastefulRefreshes.removeAll { $0 + policy.refreshWindow <= now }
        return !isWasteful(session, reason, at: now) || session.wastefulRefreshes.count < policy.refreshBudget
    }

    /// Whether a refresh would replace a token that has hardly been of use. A backend whose tokens live for seconds
    /// needs many refreshes, and none of them is wasteful.
    private func isWasteful(
        _ session: ActiveSession, _ reason: SessionEvent.RefreshReason, at now: Duration
    ) -> Bool {
        switch reason {
        case .expired, .expiringSoon: false
        case .rejected, .forced: session.deadlines.map { now < $0.halfLife } ?? !session.wasAccepted
        }
    }

    mutating func budgetExceeded(_ session: inout ActiveSession, at now: Duration) -> WaiterReply {
        let opensAt = (session.wastefulRefreshes.first ?? now) + policy.refreshWindow
        actions.append(.emit(.refreshBudgetExceeded(session.record.stamp)))
        let failure = RefreshError(
            .tooManyRefreshes, retryAfter: opensAt - now,
            description: "the session has used its budget of \(policy.refreshBudget) early refreshes within"
                + " \(policy.refreshWindow.inSeconds.shortText) s")
        return .failure(.refreshFailed(failure))
    }
}

// MARK: - Discarding late results

extension SessionStateMachine {
    private func discardReason(of job: RefreshJob) -> SessionEvent.DiscardReason {
        switch state {
        case .signedIn(let session): session.record.id == job.record.id ? .superseded : .sessionChanged
        case .notLoaded, .loading, .unavailable, .signedOut, .expired: .signedOut
        }
    }

    private mutating func discard(_ outcome: RefreshOutcome, of job: RefreshJob) {
        let reason = discardReason(of: job)
        // If the same session continues with other tokens, do not revoke these: the server may revoke the whole
        // session.
        if reason != .superseded, case .success(let bundle, _, _) = outcome {
            discard(bundle, of: job.stamp, because: reason)
        } else {
            actions.append(.emit(.refreshDiscarded(job.stamp, reason)))
        }
    }

    /// Revokes tokens that will never be used.
    mutating func discard(
        _ bundle: TokenBundle, of stamp: SessionStamp, because reason: SessionEvent.DiscardReason
    ) {
        actions.append(.emit(.refreshDiscarded(stamp, reason)))
        actions.append(.revoke(bundle, expiresAt: nil))
    }
}
