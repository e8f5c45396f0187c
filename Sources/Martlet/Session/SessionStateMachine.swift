/// The decisions of a session: event in, actions out. No clock, no I/O, no waiting.
///
/// ``TokenManager`` holds it under a lock, performs the actions and feeds back what comes of them. As a `Hashable`
/// value it can be enumerated and searched by tests.
struct SessionStateMachine: Hashable, Sendable {
    let policy: SessionPolicy
    /// Whether other processes can reach the record: then no refresh token is spent without having looked first.
    let sharesStore: Bool
    var state: State = .notLoaded
    /// How often somebody has signed in or out, here or elsewhere: what began before the last time must not end after it.
    var epoch = 0
    /// The session that ended here last. Nothing brings it back, whatever the store may still have.
    var ended: SessionID?
    /// What has to go from the store and is not known to be gone yet.
    var deletion: Deletion?
    var lastID = 0
    /// What the transition under way has asked for so far.
    var actions: [Action] = []

    init(policy: SessionPolicy, sharesStore: Bool = false) {
        self.policy = policy
        self.sharesStore = sharesStore
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

    mutating func resume(_ waiters: Set<WaiterID>, _ answer: Answer) {
        guard !waiters.isEmpty else { return }
        actions.append(.resume(waiters.sorted(), answer))
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

    /// The session and rotation of a token, where it is the one that is handed out now.
    func stamp(of token: Secret) -> SessionStamp? {
        guard case .signedIn(let session) = state, session.isAnnounced else { return nil }
        return session.record.bundle.accessToken == token ? session.record.stamp : nil
    }

    /// The record of whoever is signed in.
    var currentRecord: StoredSession? {
        guard case .signedIn(let session) = state else { return nil }
        if case .saving(let order) = session.phase { return order.record }
        return session.record
    }

    /// Whether a request signed by this rotation may still go out: it has not been refused, and nobody else is signed in.
    func isGood(_ stamp: SessionStamp) -> Bool {
        guard case .signedIn(let session) = state, session.isAnnounced else { return false }
        return session.record.stamp == stamp && !session.isRejected
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
                if now >= life.refreshAt { startQuietly(&session, because: .expiringSoon, at: now) }
                return .token(session.credential)
            }
            return refresh(&session, for: waiter, because: session.isRejected ? .rejected : .expired, at: now)
        }
    }

    /// Somebody needs a token for something that takes a while.
    ///
    /// One that would die meanwhile is renewed first, if a new one would last longer: where even that would hardly do, only
    /// one that is past the half of its life.
    mutating func tokenAsked(lasting need: Duration, by waiter: WaiterID, at now: Duration) -> Answer {
        guard case .signedIn(var session) = state, let life = session.life, let lifetime = session.record.lifetime,
            session.record.bundle.refreshToken != nil, session.isUsable(at: now),
            life.expiresAt - now < (need <= lifetime * 0.9 ? need : lifetime / 2),
            life.expiresAt - now < lifetime - policy.minimumInterval
        else { return tokenAsked(by: waiter, at: now) }
        // A token that is good for now is better than none.
        if case .settled = session.phase {
            if let coolDown = session.coolDown, now < coolDown.until { return .token(session.credential) }
            guard hasBudget(&session, at: now) else { return .token(session.credential) }
        }
        defer { state = .signedIn(session) }
        return refresh(&session, for: waiter, because: .expiringSoon, at: now)
    }

    /// Somebody who has waited for a token of this session needs one, and nobody else's.
    mutating func tokenAsked(for session: SessionID, by waiter: WaiterID, at now: Duration) -> Answer {
        if case .signedIn(let current) = state, current.record.id != session { return .failure(.sessionChanged) }
        return tokenAsked(by: waiter, at: now)
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

    /// The server refused a request that was signed with this token: whoever asks from now on waits for the next one.
    mutating func tokenRefused(_ stamp: SessionStamp, at now: Duration) {
        guard case .signedIn(var session) = state, session.isAnnounced, session.record.stamp == stamp,
            session.record.bundle.refreshToken != nil
        else { return }
        if case .settled = session.phase {
            // With the budget used up, one endpoint that always refuses must not take the token from all the others.
            guard hasBudget(&session, at: now) else { return }
            session.isRejected = true
            startQuietly(&session, because: .rejected, at: now)
        } else {
            session.isRejected = true
        }
        state = .signedIn(session)
    }

    /// Somebody whose request was refused needs another token in place of this one.
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
                startDeletion(.refused(session.record), sparesUnreadable: true)
                return .failure(.expired(.noRefreshToken))
            }
            defer { state = .signedIn(session) }
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
        leave(.sessionChanged)
        // Its record takes the place of the one that was to go.
        deletion = nil
        let order = SaveOrder(id: makeID(), record: record, life: life, isStored: false)
        state = .signedIn(
            ActiveSession(
                record: record, life: life, phase: .saving(order), waiters: [waiter], isAnnounced: false,
                isStored: false))
        actions.append(.save(order))
        return .wait
    }

    /// The user signs out: whatever is under way is cut off, what is stored goes, then the server is told.
    mutating func signedOut() {
        let record = currentRecord
        var scope = DeletionScope.everybody
        // Where its own record was never written, the store may still have that of whoever was signed in before.
        if case .signedIn(let session) = state, session.isStored { scope = .session(session.record.id) }
        epoch += 1
        leave(.signedOut)
        state = .signedOut
        startDeletion(scope)
        actions.append(.emit(.signedOut(record?.id)))
        if let record { actions.append(.revoke(record.bundle)) }
    }

    /// Cuts off whatever waits for the session that is over.
    mutating func leave(_ error: SessionError) {
        switch state {
        case .loading(let waiters):
            resume(waiters, .askAgain)
        case .signedIn(let session):
            ended = session.record.id
            resume(session.waiters, .failure(error))
        case .notLoaded, .unavailable, .signedOut, .expired:
            break
        }
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
