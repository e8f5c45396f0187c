/// The decisions of a session: event in, actions out. No clock, no I/O, no waiting.
///
/// ``TokenManager`` holds it under a lock, performs the actions and feeds back what comes of them. As a `Hashable`
/// value it can be enumerated and searched by tests.
struct SessionStateMachine: Hashable, Sendable {
    let policy: SessionPolicy
    private(set) var state: State = .notLoaded
    private var lastID = 0
    /// How often somebody has signed in or out: what began before the last time must not end after it.
    private(set) var epoch = 0
    /// What the transition under way has asked for so far.
    private var actions: [Action] = []

    init(policy: SessionPolicy) {
        self.policy = policy
    }

    /// A new name for a waiter or an order.
    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// What has to be done after a transition, in this order.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }
}

// MARK: - Looking

extension SessionStateMachine {
    /// What the app sees, or `nil` while what was seen before still holds.
    func visibleState(at now: Duration) -> SessionState? {
        switch state {
        case .notLoaded: .loading
        // Reading once more changes nothing for those who look on until it is known what there is.
        case .loading: nil
        case .unavailable(let failure): .unavailable(failure)
        case .signedOut: .signedOut
        case .expired(let reason, _): .expired(reason)
        case .signedIn(let session):
            session.isAnnounced
                ? .signedIn(
                    SignedInSession(
                        id: session.record.id, account: session.record.account,
                        isStale: session.coolDown != nil && !session.isUsable(at: now), isSaved: session.isSaved))
                : nil
        }
    }

    /// The token that can be handed out without another thought, and until when.
    var hotCredential: (credential: Credential, until: Duration?)? {
        guard case .signedIn(let session) = state, session.isAnnounced, !session.isRejected else { return nil }
        return (session.credential, session.record.bundle.refreshToken == nil ? nil : session.life?.refreshAt)
    }

    /// The record of whoever is signed in.
    var currentRecord: StoredSession? {
        guard case .signedIn(let session) = state else { return nil }
        if case .saving(_, let record, _) = session.phase { return record }
        return session.record
    }
}

extension SessionStateMachine.ActiveSession {
    var credential: Credential {
        Credential(stamp: record.stamp, accessToken: record.bundle.accessToken)
    }

    func isUsable(at now: Duration) -> Bool {
        guard isAnnounced, !isRejected else { return false }
        // Without a refresh token nothing is won by holding an old token back: let the server judge it.
        guard let life, record.bundle.refreshToken != nil else { return true }
        return now < life.expiresAt
    }
}

// MARK: - Events of the app

extension SessionStateMachine {
    /// Somebody needs a token.
    mutating func tokenAsked(by waiter: WaiterID, at now: Duration) -> Answer {
        switch state {
        case .notLoaded, .unavailable, .loading:
            return load(for: waiter)
        case .signedOut:
            return .failure(.signedOut)
        case .expired(let reason, _):
            return .failure(.expired(reason))
        case .signedIn(var session):
            defer { state = .signedIn(session) }
            let isUsable = session.isUsable(at: now)
            guard let life = session.life, session.record.bundle.refreshToken != nil else {
                return isUsable
                    ? .token(session.credential) : refresh(&session, for: waiter, because: .rejected, at: now)
            }
            if isUsable {
                if now >= life.refreshAt { startQuietly(&session, at: now) }
                return .token(session.credential)
            }
            return refresh(&session, for: waiter, because: session.isRejected ? .rejected : .expired, at: now)
        }
    }

    /// Somebody needs to know what the store has, and no token.
    mutating func load(for waiter: WaiterID) -> Answer {
        switch state {
        case .notLoaded, .unavailable:
            state = .loading(waiters: [waiter])
            actions.append(.load)
            return .wait
        case .loading(var waiters):
            waiters.insert(waiter)
            state = .loading(waiters: waiters)
            return .wait
        case .signedOut, .signedIn, .expired:
            return .askAgain
        }
    }

    /// The server refused a request that was signed with this token.
    mutating func tokenRejected(_ stamp: SessionStamp, reportedBy waiter: WaiterID, at now: Duration) -> Answer {
        switch state {
        case .notLoaded, .loading, .unavailable, .signedOut:
            return .failure(.sessionChanged)
        case .expired(let reason, let session):
            return .failure(session == stamp.session ? .expired(reason) : .sessionChanged)
        case .signedIn(var session):
            guard session.record.id == stamp.session else { return .failure(.sessionChanged) }
            if session.record.rotation > stamp.rotation { return tokenAsked(by: waiter, at: now) }
            guard session.record.bundle.refreshToken != nil else {
                expire(session, because: .noRefreshToken)
                return .failure(.expired(.noRefreshToken))
            }
            defer { state = .signedIn(session) }
            // With the budget used up, one endpoint that always refuses must not take the token from all the others.
            if case .settled = session.phase, !hasBudget(&session, at: now) {
                return refuse(&session, at: now)
            }
            session.isRejected = true
            return refresh(&session, for: waiter, because: .rejected, at: now)
        }
    }

    /// The app wants a new token, whatever the clock says.
    mutating func refreshForced(by waiter: WaiterID, at now: Duration) -> Answer {
        guard case .signedIn(var session) = state, session.isAnnounced else { return tokenAsked(by: waiter, at: now) }
        guard session.record.bundle.refreshToken != nil else {
            return .failure(.refreshFailed(RefreshFailure(.refresher, description: "there is no refresh token")))
        }
        defer { state = .signedIn(session) }
        return refresh(&session, for: waiter, because: .forced, at: now)
    }

    /// Somebody signed in. The waiter is resumed once the record has been written, or writing it has failed.
    @discardableResult
    mutating func signedIn(
        _ record: StoredSession, life: TokenLife?, since start: Int? = nil, by waiter: WaiterID
    ) -> Answer {
        if let start, start != epoch {
            actions.append(.revoke(record.bundle))
            return .failure(.sessionChanged)
        }
        epoch += 1
        switch state {
        case .loading(let waiters): resume(waiters, .askAgain)
        case .signedIn(let old): resume(old.waiters, .failure(.sessionChanged))
        case .notLoaded, .unavailable, .signedOut, .expired: break
        }
        let order = makeID()
        state = .signedIn(
            ActiveSession(
                record: record, life: life, phase: .saving(order, record, life), waiters: [waiter], isAnnounced: false))
        actions.append(.save(order, record))
        return .wait
    }

    /// The user signs out: whatever is under way is cut off, what is stored goes, then the server is told.
    mutating func signedOut() {
        epoch += 1
        let record = currentRecord
        switch state {
        case .loading(let waiters): resume(waiters, .askAgain)
        case .signedIn(let session): resume(session.waiters, .failure(.signedOut))
        case .notLoaded, .unavailable, .signedOut, .expired: break
        }
        state = .signedOut
        actions.append(.delete)
        actions.append(.emit(.signedOut(record?.id)))
        if let record { actions.append(.revoke(record.bundle)) }
    }

    /// A waiter does not wait any more. `false` if it had been answered already.
    mutating func waiterCancelled(_ waiter: WaiterID) -> Bool {
        switch state {
        case .loading(var waiters):
            guard waiters.remove(waiter) != nil else { return false }
            state = .loading(waiters: waiters)
            return true
        case .signedIn(var session):
            guard session.waiters.remove(waiter) != nil else { return false }
            state = .signedIn(session)
            return true
        case .notLoaded, .unavailable, .signedOut, .expired:
            return false
        }
    }
}

// MARK: - Events of the store

extension SessionStateMachine {
    /// The store has been read. `life` belongs to the record that was found.
    mutating func loaded(_ reading: StoreReading, life: TokenLife?) {
        guard case .loading(let waiters) = state else { return }
        switch reading {
        case .found(let record):
            state = .signedIn(ActiveSession(record: record, life: life))
            actions.append(.emit(.restored(record.stamp)))
            resume(waiters, .askAgain)
        case .empty:
            state = .signedOut
            actions.append(.emit(.restored(nil)))
            resume(waiters, .askAgain)
        case .unavailable(let failure):
            state = .unavailable(failure)
            actions.append(.emit(.storeFailed(.read, failure)))
            resume(waiters, .failure(.unavailable(failure)))
        }
    }

    /// A record has been written, or not.
    mutating func saved(_ order: OrderID, failure: StorageFailure?) {
        guard case .signedIn(var session) = state else { return }
        defer { state = .signedIn(session) }
        let wasSaved = session.isSaved
        if case .saving(order, let record, let life) = session.phase {
            let isNew = !session.isAnnounced
            session.record = record
            session.life = life
            session.phase = .settled
            session.isRejected = false
            session.isAnnounced = true
            session.coolDown = nil
            session.failures = 0
            session.saveFailures = 0
            session.saveRetry = nil
            actions.append(.emit(isNew ? .signedIn(record.stamp) : .refreshSucceeded(record.stamp)))
            // What the store still has is somebody else's, and would be back after a restart.
            if isNew, failure != nil { actions.append(.delete) }
            if !wasSaved, failure == nil { actions.append(.emit(.storeRecovered(record.stamp))) }
            resume(session.waiters, .token(session.credential))
            session.waiters = []
        } else if session.saveRetry == order {
            session.saveRetry = nil
            if failure == nil { actions.append(.emit(.storeRecovered(session.record.stamp))) }
        } else {
            return
        }
        session.isSaved = failure == nil
        if let failure {
            session.saveFailures += 1
            let wait = policy.firstSaveRetry * (1 << min(session.saveFailures - 1, 20))
            actions.append(.emit(.storeFailed(.write, failure)))
            if !session.awaitsSaveRetry { actions.append(.retrySave(after: min(wait, policy.maximumCoolDown))) }
            session.awaitsSaveRetry = true
        }
    }

    /// The wait after a failed write is over.
    mutating func saveRetryDue() {
        guard case .signedIn(var session) = state else { return }
        session.awaitsSaveRetry = false
        state = .signedIn(session)
        guard !session.isSaved, session.saveRetry == nil else { return }
        if case .saving = session.phase { return }
        let order = makeID()
        session.saveRetry = order
        state = .signedIn(session)
        actions.append(.save(order, session.record))
    }
}

// MARK: - Refreshing

extension SessionStateMachine {
    /// A refresh has come to its end.
    mutating func refreshFinished(_ order: RefreshOrder, _ outcome: RefreshOutcome, at now: Duration, jitter: Double) {
        guard case .signedIn(var session) = state, case .refreshing(order) = session.phase else {
            let wasSignedOut: Bool = if case .signedIn = state { false } else { true }
            actions.append(.emit(.refreshDiscarded(order.stamp, wasSignedOut ? .signedOut : .sessionChanged)))
            // Tokens that nobody will ever use are taken back.
            if case .success(let bundle, _, _) = outcome { actions.append(.revoke(bundle)) }
            return
        }
        switch outcome {
        case .success(var bundle, let known, let freshUntil):
            if bundle.refreshToken == nil { bundle.refreshToken = session.record.bundle.refreshToken }
            if bundle.scope == nil { bundle.scope = session.record.bundle.scope }
            var record = session.record
            record.rotation += 1
            record.bundle = bundle
            record.lifetime = known?.lifetime
            record.freshUntil = freshUntil
            record.journal = nil
            let life = known.map {
                TokenLife(
                    obtainedAt: now, lasting: $0.remaining, lifetime: $0.lifetime, policy: policy, jitter: jitter)
            }
            let save = makeID()
            session.phase = .saving(save, record, life)
            state = .signedIn(session)
            actions.append(.save(save, record))
        case .transient(let failure):
            session.failures += 1
            let wait = policy.coolDown(
                afterFailures: session.failures, retryAfter: failure.retryAfter, jitter: jitter)
            session.phase = .settled
            session.coolDown = CoolDown(until: now + wait, failure: failure)
            actions.append(.emit(.refreshFailed(order.stamp, failure, coolDown: wait)))
            resume(session.waiters, .failure(.refreshFailed(failure)))
            session.waiters = []
            state = .signedIn(session)
        case .terminal(let reason):
            expire(session, because: reason)
        }
    }

    /// Makes the waiter wait for a new token, or tells it why there will be none for now.
    private mutating func refresh(
        _ session: inout ActiveSession, for waiter: WaiterID, because reason: SessionEvent.RefreshReason,
        at now: Duration
    ) -> Answer {
        switch session.phase {
        case .refreshing(let order):
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
    private mutating func startQuietly(_ session: inout ActiveSession, at now: Duration) {
        guard case .settled = session.phase else { return }
        if let coolDown = session.coolDown, now < coolDown.until { return }
        guard hasBudget(&session, at: now) else { return }
        start(&session, because: .expiringSoon, at: now)
    }

    private mutating func start(
        _ session: inout ActiveSession, because reason: SessionEvent.RefreshReason, at now: Duration
    ) {
        let order = RefreshOrder(
            id: makeID(), stamp: session.record.stamp, bundle: session.record.bundle)
        session.recentRefreshes.append(now)
        session.phase = .refreshing(order)
        actions.append(.emit(.refreshStarted(order.stamp, reason)))
        actions.append(.refresh(order))
    }

    private func hasBudget(_ session: inout ActiveSession, at now: Duration) -> Bool {
        session.recentRefreshes.removeAll { $0 + policy.refreshWindow <= now }
        return session.recentRefreshes.count < policy.refreshBudget
    }

    private mutating func refuse(_ session: inout ActiveSession, at now: Duration) -> Answer {
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

    private mutating func expire(_ session: ActiveSession, because reason: ExpiryReason) {
        state = .expired(reason, session.record.id)
        actions.append(.delete)
        actions.append(.emit(.expired(session.record.id, reason)))
        resume(session.waiters, .failure(.expired(reason)))
    }

    private mutating func resume(_ waiters: Set<WaiterID>, _ answer: Answer) {
        guard !waiters.isEmpty else { return }
        actions.append(.resume(waiters.sorted(), answer))
    }
}
