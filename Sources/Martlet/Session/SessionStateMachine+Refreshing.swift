#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// MARK: - The steps of a refresh

extension SessionStateMachine {
    /// The lock is held and the store has been looked into: `journal` has been noted there, unless somebody was faster.
    /// - Returns: Whether the refresh token is to be sent now.
    mutating func prepared(
        _ order: RefreshOrder, over seen: Sighting, journal: RefreshJournal, failure: StorageFailure?,
        at now: Duration, jitter: Double
    ) -> Bool {
        guard case .signedIn(var session) = state, case .preparing(var current) = session.phase, current.id == order.id
        else {
            dropped(order)
            return false
        }
        var found: StoredSession?
        switch RecordComparison(seen.reading, with: order.record) {
        case .newer(let record):
            adopt(record, seen.life, &session)
            return false
        case .otherSession(let record):
            guard order.isStored else { break }
            switchTo(record, seen.life, from: session)
            return false
        case .gone:
            guard order.isStored else { break }
            signedOutElsewhere(session)
            return false
        case .unreadable(let why):
            // Another process may have spent the token since: to send it once more could end the session for all.
            guard sharesStore else { break }
            fail(&session, order, RefreshFailure(why), at: now, jitter: jitter)
            return false
        case .same(let record): found = record
        case .older: break
        }
        if let failure {
            actions.append(.emit(.storeFailed(.write, failure)))
        }
        // The note has brought the record there, if nothing had before.
        if failure == nil, seen.reading.isTrusted { session.isStored = true }
        let doubts = [order.record.doubt, found?.doubt].compactMap(\.self)
        // Another process may have sent since what this one only inherited a doubt about.
        let earlier = doubts.first { !$0.isInherited } ?? doubts.first
        session.record.journal = earlier?.ofSentToken ?? journal
        current.firstSentAt = current.firstSentAt ?? now
        current.mayHaveBeenSent = earlier?.isInherited == false
        session.phase = .sending(current, isDoubtful: earlier != nil)
        state = .signedIn(session)
        return true
    }

    /// The order as it stands now that its turn with the store has come; `nil` where nobody waits for it any more.
    func current(_ order: RefreshOrder) -> RefreshOrder? {
        guard case .signedIn(let session) = state, case .preparing(var current) = session.phase, current.id == order.id
        else { return nil }
        current.isStored = session.isStored
        return current
    }

    /// A refresh was overtaken before it had sent anything.
    mutating func dropped(_ order: RefreshOrder) {
        actions.append(.emit(.refreshDiscarded(order.stamp, discardReason(of: order))))
    }

    /// The refresher is done.
    /// - Returns: The order to go on with at once, where an answer was lost and the same token may be sent again.
    mutating func refreshFinished(
        _ order: RefreshOrder, _ outcome: RefreshOutcome, at now: Duration, jitter: Double
    ) -> RefreshOrder? {
        guard case .signedIn(var session) = state, case .sending(var current, let isDoubtful) = session.phase,
            current.id == order.id
        else {
            discard(outcome, of: order)
            return nil
        }
        switch outcome {
        case .success(let bundle, let known, let freshUntil):
            // What was sent before may yet come to the server, which then takes it for a thief's.
            let isSpentTwice = current.mayHaveBeenSent && policy.rotationGrace == .zero
            save(
                &session, bundle, known, freshUntil: freshUntil, isInDoubt: isSpentTwice, at: now, jitter: jitter)
        case .transient(let failure):
            if failure.mayHaveSpentToken, let sentAt = current.firstSentAt, now - sentAt < policy.rotationGrace,
                current.replays < policy.lostAnswerReplays
            {
                current = RefreshOrder(
                    id: current.id, record: session.record, isStored: session.isStored, firstSentAt: sentAt,
                    replays: current.replays + 1)
                session.phase = .preparing(current)
                state = .signedIn(session)
                actions.append(.emit(.refreshReplayed(order.stamp, failure)))
                return current
            }
            if !failure.mayHaveSpentToken, !isDoubtful {
                session.record.journal = nil
                actions.append(.clearJournal(session.record))
            }
            fail(&session, order, failure, at: now, jitter: jitter)
        case .terminal(let reason):
            session.phase = .condemning(current, isDoubtful ? .rotationLost : reason)
            state = .signedIn(session)
            actions.append(.condemn(current))
        }
        return nil
    }

    /// A refresher that had been given up has brought tokens after all.
    mutating func refreshedLate(
        _ order: RefreshOrder, _ outcome: RefreshOutcome, at now: Duration, jitter: Double
    ) {
        guard case .success(let bundle, let known, let freshUntil) = outcome else { return }
        guard case .signedIn(var session) = state, session.record.stamp == order.stamp else {
            return discard(outcome, of: order)
        }
        switch session.phase {
        case .settled, .preparing, .sending:
            // The lock was let go meanwhile, and another process may have sent the same token.
            save(
                &session, bundle, known, freshUntil: freshUntil, isInDoubt: sharesStore, at: now, jitter: jitter)
        case .saving, .condemning:
            actions.append(.emit(.refreshDiscarded(order.stamp, .superseded)))
        }
    }

    private mutating func save(
        _ session: inout ActiveSession, _ bundle: TokenBundle, _ known: TokenLifetime?, freshUntil: Date?,
        isInDoubt: Bool, at now: Duration, jitter: Double
    ) {
        let journal = session.record.journal
        var record = session.record
        record.bundle = bundle
        record.bundle.refreshToken = bundle.refreshToken ?? session.record.bundle.refreshToken
        record.bundle.scope = bundle.scope ?? session.record.bundle.scope
        record.rotation += 1
        record.lifetime = known?.lifetime
        record.freshUntil = freshUntil
        record.journal = nil
        if isInDoubt, let journal { record = record.doubted(since: journal.startedAt) }
        let life = known.map {
            TokenLife(obtainedAt: now, lasting: $0.remaining, lifetime: $0.lifetime, policy: policy, jitter: jitter)
        }
        let order = SaveOrder(id: makeID(), record: record, life: life, isStored: session.isStored)
        session.phase = .saving(order)
        state = .signedIn(session)
        actions.append(.save(order))
    }

    private mutating func fail(
        _ session: inout ActiveSession, _ order: RefreshOrder, _ failure: RefreshFailure, at now: Duration,
        jitter: Double
    ) {
        session.failures += 1
        let wait = policy.coolDown(
            afterFailures: session.failures, retryAfter: failure.retryAfter, jitter: jitter)
        session.phase = .settled
        session.coolDown = CoolDown(until: now + wait, failure: failure)
        actions.append(.emit(.refreshFailed(order.stamp, failure, coolDown: wait)))
        resume(session.waiters, .failure(.refreshFailed(failure)))
        session.waiters = []
        state = .signedIn(session)
    }

    mutating func expire(_ session: ActiveSession, because reason: ExpiryReason) {
        leave(.expired(reason))
        state = .expired(reason, session.record.id)
        actions.append(.emit(.expired(session.record.id, reason)))
    }
}

// MARK: - Starting and joining

extension SessionStateMachine {
    /// Makes the waiter wait for a new token, or tells it why there will be none for now.
    mutating func refresh(
        _ session: inout ActiveSession, for waiter: WaiterID, because reason: SessionEvent.RefreshReason,
        at now: Duration
    ) -> Answer {
        switch session.phase {
        case .preparing(let order), .sending(let order, _), .condemning(let order, _):
            actions.append(.emit(.refreshJoined(order.stamp)))
        case .saving:
            if session.isAnnounced { actions.append(.emit(.refreshJoined(session.record.stamp))) }
        case .settled:
            if let coolDown = session.coolDown, now < coolDown.until {
                return .failure(.refreshFailed(coolDown.failure))
            }
            guard hasBudget(&session, at: now) else { return refuse(&session, at: now) }
            start(&session, because: reason, at: now)
        }
        session.waiters.insert(waiter)
        return .wait
    }

    /// Starts a refresh that nobody waits for, if one may be started now.
    mutating func startQuietly(
        _ session: inout ActiveSession, because reason: SessionEvent.RefreshReason, at now: Duration
    ) {
        guard case .settled = session.phase else { return }
        if let coolDown = session.coolDown, now < coolDown.until { return }
        guard hasBudget(&session, at: now) else { return }
        start(&session, because: reason, at: now)
    }

    private mutating func start(
        _ session: inout ActiveSession, because reason: SessionEvent.RefreshReason, at now: Duration
    ) {
        let order = RefreshOrder(id: makeID(), record: session.record, isStored: session.isStored)
        session.recentRefreshes.append(now)
        session.phase = .preparing(order)
        actions.append(.emit(.refreshStarted(order.stamp, reason)))
        actions.append(.refresh(order))
    }

    func hasBudget(_ session: inout ActiveSession, at now: Duration) -> Bool {
        session.recentRefreshes.removeAll { $0 + policy.refreshWindow <= now }
        return session.recentRefreshes.count < policy.refreshBudget
    }

    mutating func refuse(_ session: inout ActiveSession, at now: Duration) -> Answer {
        let opensAt = (session.recentRefreshes.first ?? now) + policy.refreshWindow
        actions.append(.emit(.refreshRefused(session.record.stamp)))
        return .failure(
            .refreshFailed(
                RefreshFailure(
                    .tooManyRefreshes, retryAfter: opensAt - now,
                    description:
                        "\(policy.refreshBudget) refreshes within \(policy.refreshWindow.inSeconds.shortText) s"
                        + " did not give a token that the server accepts")))
    }
}

// MARK: - Throwing away

extension SessionStateMachine {
    /// Why the result of a refresh that is not awaited any more has no use.
    private func discardReason(of order: RefreshOrder) -> SessionEvent.DiscardReason {
        switch state {
        case .signedIn(let session): session.record.id == order.record.id ? .superseded : .sessionChanged
        case .notLoaded, .loading, .unavailable, .signedOut, .expired: .signedOut
        }
    }

    private mutating func discard(_ outcome: RefreshOutcome, of order: RefreshOrder) {
        let reason = discardReason(of: order)
        // Where the same session goes on, its tokens came another way, and to revoke these could take those along.
        if reason != .superseded, case .success(let bundle, _, _) = outcome {
            discard(bundle, of: order.stamp, because: reason)
        } else {
            actions.append(.emit(.refreshDiscarded(order.stamp, reason)))
        }
    }

    /// Tokens that nobody will ever use are taken back.
    mutating func discard(
        _ bundle: TokenBundle, of stamp: SessionStamp, because reason: SessionEvent.DiscardReason
    ) {
        actions.append(.emit(.refreshDiscarded(stamp, reason)))
        actions.append(.revoke(bundle))
    }
}
