/// The state machine of a session: an event goes in, actions come out. It has no clock, does no I/O and never suspends.
///
/// ``TokenManager`` holds it under a lock, performs the actions and reports their results as further events. Because it
/// is a `Hashable` value, tests can search its reachable states.
struct SessionStateMachine: Hashable, Sendable {
    let policy: SessionPolicy
    /// Whether other processes share the record. If so, the store must be readable before a refresh token is sent.
    let sharesStore: Bool
    /// Whether an unavailable store is read again without a caller. Not if reading prompts the user.
    let readsByItself: Bool
    var state: State = .notLoaded
    /// The number of sign-ins and sign-outs so far, here or in another process. A step that started in an earlier epoch
    /// must not take effect.
    var epoch = 0
    /// The session that ended here last. It is not restored even if the store still contains its record.
    var lastEnded: SessionID?
    /// A deletion that the store has not confirmed yet.
    var deletion: Deletion?
    /// The number of consecutive reads that failed.
    var readFailures = 0
    /// Whether the delay before another read is running.
    var awaitsReadRetry = false
    var lastID = 0
    /// The actions of the current transition.
    var actions: [Action] = []

    init(policy: SessionPolicy, sharesStore: Bool = false, readsByItself: Bool = true) {
        self.policy = policy
        self.sharesStore = sharesStore
        self.readsByItself = readsByItself
    }

    /// A new ID for a waiter, a job or a deletion.
    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    /// Returns the actions of the transition, in the order in which they must start.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    mutating func resume(_ waiters: Set<WaiterID>, _ reply: WaiterReply) {
        guard !waiters.isEmpty else { return }
        actions.append(.resume(waiters.sorted(), reply))
    }
}

// MARK: - Events from callers

extension SessionStateMachine {
    /// A caller asks for a token.
    /// - Parameter owner: The session that the caller's call belongs to; `nil` for any session.
    mutating func tokenRequested(
        for owner: CallOwner? = nil, by waiter: WaiterID, at now: Duration
    ) -> WaiterReply {
        if let error = owner.flatMap(mismatch) { return .failure(error) }
        switch state {
        case .notLoaded, .unavailable, .loading:
            return loadRequested(by: waiter)
        case .signedOut:
            return .failure(.signedOut)
        case .expired(let reason, _):
            return .failure(.expired(reason))
        case .signedIn(var session):
            defer { state = .signedIn(session) }
            let isUsable = session.isUsable(at: now)
            guard let deadlines = session.deadlines, session.record.bundle.refreshToken != nil else {
                return isUsable
                    ? .token(session.credential) : joinRefresh(&session, for: waiter, because: .rejected, at: now)
            }
            if isUsable {
                if now >= deadlines.refreshAt { startBackgroundRefresh(&session, because: .expiringSoon, at: now) }
                return .token(session.credential)
            }
            return joinRefresh(&session, for: waiter, because: session.isRejected ? .rejected : .expired, at: now)
        }
    }

    /// A caller asks for a token for a long request, such as a large upload.
    ///
    /// A token that would expire during the request is refreshed first, if a new one would last longer. If the
    /// request needs more than 90% of a token's lifetime, the token is refreshed only in the second half of its lifetime.
    mutating func tokenRequested(
        lasting need: Duration, for owner: CallOwner? = nil, by waiter: WaiterID, at now: Duration
    ) -> WaiterReply {
        if let error = owner.flatMap(mismatch) { return .failure(error) }
        guard case .signedIn(var session) = state, let deadlines = session.deadlines,
            let lifetime = session.record.lifetime, session.record.bundle.refreshToken != nil,
            session.isUsable(at: now),
            deadlines.expiresAt - now < (need <= lifetime * 0.9 ? need : lifetime / 2),
            // A new token would last hardly longer than a token that is still new.
            deadlines.expiresAt - now < lifetime * 0.95
        else { return tokenRequested(by: waiter, at: now) }
        // If no refresh can start now, the token that is still valid is better than none.
        if case .settled = session.phase, let backoff = session.backoff, now < backoff.until {
            return .token(session.credential)
        }
        defer { state = .signedIn(session) }
        return joinRefresh(&session, for: waiter, because: .expiringSoon, at: now)
    }

    /// A caller that waited for a token of this session asks again. A token of another session must not be handed out.
    mutating func tokenRequested(for session: SessionID, by waiter: WaiterID, at now: Duration) -> WaiterReply {
        if case .signedIn(let current) = state, current.record.id != session { return .failure(.sessionChanged) }
        return tokenRequested(by: waiter, at: now)
    }

    /// A caller needs the store to be loaded, but no token.
    mutating func loadRequested(by waiter: WaiterID) -> WaiterReply {
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

    /// The delay after a failed read is over.
    mutating func readRetryDue() {
        awaitsReadRetry = false
        guard case .unavailable = state else { return }
        state = .loading(waiters: [])
        actions.append(.load)
    }

    /// The server rejected a request that was signed with this token. From now on, callers wait for the next token.
    mutating func tokenRejected(_ stamp: SessionStamp, at now: Duration) {
        guard case .signedIn(var session) = state, session.isVisible, session.record.stamp == stamp,
            session.record.bundle.refreshToken != nil
        else { return }
        if case .settled = session.phase {
            startBackgroundRefresh(&session, because: .rejected, at: now)
            // If no refresh can start now, the token stays in use: one endpoint that rejects it must not block the
            // calls to all others.
            if case .settled = session.phase { return }
        }
        session.isRejected = true
        state = .signedIn(session)
    }

    /// The server rejected a caller's request, and the caller asks for a token that replaces this one.
    mutating func tokenRejected(_ stamp: SessionStamp, reportedBy waiter: WaiterID, at now: Duration) -> WaiterReply {
        switch state {
        case .notLoaded, .loading, .unavailable, .signedOut:
            return .failure(.sessionChanged)
        case .expired(let reason, let session):
            return .failure(session == stamp.session ? .expired(reason) : .sessionChanged)
        case .signedIn(var session):
            guard session.record.id == stamp.session else { return .failure(.sessionChanged) }
            if session.record.rotation > stamp.rotation { return tokenRequested(by: waiter, at: now) }
            guard session.record.bundle.refreshToken != nil else {
                expire(session, because: .noRefreshToken)
                startDeletion(.rejectedOrOlder(session.record), sparesUnreadable: true)
                return .failure(.expired(.noRefreshToken))
            }
            defer { state = .signedIn(session) }
            let reply = joinRefresh(&session, for: waiter, because: .rejected, at: now)
            if reply == .wait { session.isRejected = true }
            return reply
        }
    }

    /// The server has accepted a token whose lifetime is unknown.
    mutating func tokenAccepted(_ stamp: SessionStamp) {
        guard case .signedIn(var session) = state, session.record.stamp == stamp else { return }
        session.wasAccepted = true
        state = .signedIn(session)
    }

    /// The app forces a refresh, even if the token has not expired.
    mutating func refreshForced(by waiter: WaiterID, at now: Duration) -> WaiterReply {
        guard case .signedIn(var session) = state, session.isVisible else {
            return tokenRequested(by: waiter, at: now)
        }
        guard session.record.bundle.refreshToken != nil else {
            return .failure(.refreshFailed(RefreshError(.refresher, description: "there is no refresh token")))
        }
        defer { state = .signedIn(session) }
        return joinRefresh(&session, for: waiter, because: .forced, at: now)
    }

    /// A user signed in. The waiter is resumed after the record was written or the write failed.
    /// - Parameter start: The epoch in which the sign-in started. If it is over, the new tokens are revoked.
    @discardableResult
    mutating func signedIn(
        _ record: StoredSession, deadlines: TokenDeadlines?, since start: Int? = nil, by waiter: WaiterID
    ) -> WaiterReply {
        if let start, start != epoch {
            actions.append(.revoke(record.bundle, expiresAt: nil))
            return .failure(.sessionChanged)
        }
        epoch += 1
        revokeCurrent()
        endSession(.sessionChanged)
        // The new record overwrites the one that was to be deleted.
        deletion = nil
        let job = SaveJob(id: makeID(), record: record, deadlines: deadlines, hasBeenStored: false)
        state = .signedIn(
            ActiveSession(
                record: record, deadlines: deadlines, phase: .saving(job), waiters: [waiter], isVisible: false,
                hasBeenStored: false))
        actions.append(.save(job))
        return .wait
    }

    /// The user signed out: fail all waiters, delete the record, and revoke the tokens at the server.
    mutating func signedOut() {
        let record = currentRecord
        var scope = DeletionScope.allRecords
        // If the session's own record was never written, the store may still contain the record of an earlier session.
        if case .signedIn(let session) = state, session.hasBeenStored { scope = .session(session.record.id) }
        epoch += 1
        revokeCurrent()
        endSession(.signedOut)
        state = .signedOut
        startDeletion(scope)
        actions.append(.emit(.signedOut(record?.id)))
    }

    /// Revokes the tokens of the session that ends because the user signs out or another user signs in.
    private mutating func revokeCurrent() {
        guard case .signedIn(let session) = state, let record = currentRecord else { return }
        var expiresAt = session.deadlines?.expiresAt
        if case .saving(let job) = session.phase { expiresAt = job.deadlines?.expiresAt }
        if session.isRejected { expiresAt = .zero }
        actions.append(.revoke(record.bundle, expiresAt: expiresAt))
    }

    /// Resumes all waiters because the current state ends, and marks the session as ended if there is one.
    mutating func endSession(_ error: SessionError) {
        switch state {
        case .loading(let waiters):
            resume(waiters, .askAgain)
        case .signedIn(let session):
            lastEnded = session.record.id
            resume(session.waiters, .failure(error))
        case .notLoaded, .unavailable, .signedOut, .expired:
            break
        }
    }

    /// A waiter was cancelled. Returns `false` if it had already been resumed.
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
