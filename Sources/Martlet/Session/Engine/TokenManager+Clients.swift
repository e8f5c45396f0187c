extension TokenManager {
    /// The owner of a call that is made now. A call that a refresher makes belongs to the session that it refreshes.
    var currentOwner: CallOwner {
        refreshOwner ?? core.withLock { $0.owner }
    }

    /// The owner of a sign-in that starts now. It belongs to the latest epoch, even while another sign-in, which it
    /// replaces, is being saved.
    var signInOwner: CallOwner {
        refreshOwner
            ?? core.withLock { CallOwner(epoch: $0.machine.epoch, situation: $0.owner.situation) }
    }

    /// The first step of a call: its owner and, without suspending, a token that needs no refresh.
    func beginCall() -> (owner: CallOwner, credential: Credential?) {
        if let owner = refreshOwner { return (owner, freshCredential(for: owner)) }
        let now = time.uptime
        return core.withLock { core in (core.owner, core.freshCredential(at: now)) }
    }

    /// The fast path: a token that needs no refresh, without suspending.
    func freshCredential(for owner: CallOwner) -> Credential? {
        let now = time.uptime
        return core.withLock { core in
            guard owner.epoch == core.owner.epoch else { return nil }
            return core.freshCredential(at: now)
        }
    }

    /// Waits until the store was read, for a call that was made before that.
    /// - Returns: The owner, with the session that the store contained. It is unchanged if the call was made later, if the
    ///   store cannot be read, or if a user has signed in before it could.
    func resolved(_ owner: CallOwner) async -> CallOwner {
        guard owner.situation == .unknown else { return owner }
        _ = await loadedState
        return core.withLock { core in
            guard let stored = core.storedOwner, stored.epoch == owner.epoch else { return owner }
            return stored
        }
    }

    /// The form of a call's owner that is stored with what the call leaves behind. Waits until the store was read.
    /// - Throws: An error if the owner has ended.
    func lastingOwner(of owner: CallOwner) async throws(SessionError) -> LastingOwner {
        let owner = await resolved(owner)
        // A call that began without a user continues without one, even if a user has signed in by now.
        if [.signedOut, .expired].contains(owner.situation) { return .noUser }
        let state = await loadedState
        if let error = end(of: owner) { throw error }
        switch state {
        case .signedIn(let session) where owner.session == nil || owner.session == session.id:
            return LastingOwner(session)
        case .signedOut where owner.session == nil, .expired where owner.session == nil: return .noUser
        case .signedIn, .signedOut, .expired: throw .sessionChanged
        case .loading, .unavailable, .unreadable: return .unreadStore
        }
    }

    /// A valid token. Suspends while the store is read or the token is refreshed.
    /// - Parameters:
    ///   - need: The time that the token must last, for a long request. The token is refreshed first if it would expire
    ///     before.
    ///   - owner: The session that the call belongs to.
    ///   - patience: Whether the caller may probe a token that the server has rejected at another endpoint.
    func credential(
        lasting need: Duration? = nil, for owner: CallOwner, _ patience: SessionStateMachine.Patience = .waits
    ) async -> Result<Credential, SessionError> {
        if need == nil, let credential = freshCredential(for: owner) { return .success(credential) }
        let reply = await resolveCurrent { machine, waiter, now in
            machine.tokenRequested(lasting: need, for: owner, patience, by: waiter, at: now)
        }
        switch reply {
        case .failure(.refreshFailed(let failure)):
            let now = time.uptime
            return core.withLock { $0.machine.credential(despite: failure, for: owner, at: now) }
        // A call that belongs to a session must not continue without one.
        case .failure(.signedOut) where owner.session != nil: return .failure(.sessionChanged)
        default: return reply
        }
    }

    /// A token of the same session that replaces one that the server rejected.
    func credential(replacing stamp: SessionStamp) async -> Result<Credential, SessionError> {
        let reply = await resolveCurrent { machine, waiter, now in
            machine.tokenRejected(stamp, reportedBy: waiter, at: now)
        }
        // The request belonged to a session, and must not continue without one.
        if case .failure(.signedOut) = reply { return .failure(.sessionChanged) }
        return reply
    }

    /// Asks for a token, and asks once more if it has expired or was replaced, or its session has ended, before the caller
    /// gets it: while it was saved, or while the device slept.
    private func resolveCurrent(_ ask: @escaping MachineRequest) async -> Result<Credential, SessionError> {
        for _ in 0..<2 {
            let reply = await resolve(ask)
            guard case .success(let credential) = reply else { return reply }
            let now = time.uptime
            guard core.withLock({ $0.machine.isStale(credential.stamp, at: now) }) else { return reply }
        }
        return .failure(
            .refreshFailed(
                RefreshError(.timedOut, description: "the new access token has expired before it could be used")))
    }

    /// Reports that the server rejected a token. From now on, callers wait for the next one.
    /// - Returns: Whether the rejection came before a refresh was sent.
    func reportRejection(of stamp: SessionStamp) -> Bool {
        let now = time.uptime
        return transition { machine in machine.tokenRejected(stamp, at: now) }
    }

    /// Reports that the server accepted a token.
    func reportAcceptance(of stamp: SessionStamp, _ acceptance: SessionStateMachine.Acceptance) {
        transition { machine in machine.tokenAccepted(stamp, acceptance) }
    }

    /// Whether a request signed with this token may still be sent.
    func isUsable(_ credential: Credential) -> Bool {
        let now = time.uptime
        return core.withLock { core in
            let isProbe = credential.probe != nil
            return isProbe ? core.machine.mayProbe(credential.stamp, at: now) : core.machine.isUsable(credential.stamp)
        }
    }

    /// Whether a request that has waited with this token needs another one before it is sent.
    func isOutdated(_ stamp: SessionStamp) -> Bool {
        let now = time.uptime
        return core.withLock { $0.machine.isOutdated(stamp, at: now) }
    }

    /// The reason why nothing more may be sent or received for a call; `nil` if its session continues.
    func end(of owner: CallOwner) -> SessionError? {
        core.withLock { $0.machine.end(of: owner) }
    }

    /// Whether tokens may be sent to an origin.
    func mayCarryToken(to origin: Origin) -> Bool {
        guard allowsInsecureHTTP || !origin.isInsecure else { return false }
        return origin == baseURL.origin || trustedOrigins.contains(origin)
    }
}

// MARK: - The end of a session

extension TokenManager {
    /// Calls a closure once, when the session of a call has ended; at once if it already has.
    /// - Returns: A closure that cancels this.
    func onEnd(of owner: CallOwner, _ perform: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = core.withLock { core -> Int? in
            guard core.machine.end(of: owner) == nil else { return nil }
            let id = core.machine.makeID()
            core.endings.add(id, owner, perform)
            return id
        }
        guard let id else {
            perform()
            return {}
        }
        return { [weak self] in self?.core.withLock { $0.endings.remove(id) } }
    }
}

extension TokenManager.Core {
    /// Updates the copies after a change of the machine.
    mutating func copyMachine() {
        cached = machine.cachedCredential
        let former = owner
        owner = machine.callOwner
        if former.situation == .unknown, owner.situation != .unknown, owner.epoch == former.epoch {
            storedOwner = owner
        }
    }
}
