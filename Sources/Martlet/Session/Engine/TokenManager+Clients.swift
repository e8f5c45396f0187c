extension TokenManager {
    /// The first step of a call: the session that it belongs to and, without suspending, a token that needs no refresh.
    func beginCall() -> (owner: CallOwner, credential: Credential?) {
        let now = time.uptime
        return core.withLock { core in (core.owner, core.freshCredential(at: now)) }
    }

    /// The fast path: a token that needs no refresh, without suspending.
    func freshCredential(for owner: CallOwner? = nil) -> Credential? {
        let now = time.uptime
        return core.withLock { core in
            guard owner.map({ $0.epoch == core.owner.epoch }) ?? true else { return nil }
            return core.freshCredential(at: now)
        }
    }

    /// A valid token. Suspends while the store is read or the token is refreshed.
    /// - Parameters:
    ///   - need: How long the token must last, for a long request. It is refreshed first if it would expire before.
    ///   - owner: The session that the call belongs to; `nil` for any session.
    func credential(
        lasting need: Duration? = nil, for owner: CallOwner? = nil
    ) async -> Result<Credential, SessionError> {
        if need == nil, let credential = freshCredential(for: owner) { return .success(credential) }
        let reply = await resolve { machine, waiter, now in
            if let need { return machine.tokenRequested(lasting: need, for: owner, by: waiter, at: now) }
            return machine.tokenRequested(for: owner, by: waiter, at: now)
        }
        guard case .failure(.refreshFailed(let failure)) = reply else { return reply }
        let now = time.uptime
        return core.withLock { $0.machine.credential(despite: failure, for: owner, at: now) }
    }

    /// A token that replaces one that the server rejected.
    func credential(replacing stamp: SessionStamp) async -> Result<Credential, SessionError> {
        await resolve { machine, waiter, now in machine.tokenRejected(stamp, reportedBy: waiter, at: now) }
    }

    /// Reports that the server rejected a token. From now on, callers wait for the next one.
    func reportRejection(of stamp: SessionStamp) {
        let now = time.uptime
        transition { machine in machine.tokenRejected(stamp, at: now) }
    }

    /// Reports that the server accepted a token whose lifetime is unknown.
    func reportAcceptance(of stamp: SessionStamp) {
        transition { machine in machine.tokenAccepted(stamp) }
    }

    /// Whether a request signed with this token may still be sent.
    func isUsable(_ stamp: SessionStamp) -> Bool {
        core.withLock { $0.machine.isUsable(stamp) }
    }

    /// Why nothing more may be sent or received for a call; `nil` if its session continues.
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
            core.endings[id] = Ending(owner: owner, perform: perform)
            return id
        }
        guard let id else {
            perform()
            return {}
        }
        return { [weak self] in _ = self?.core.withLock { $0.endings.removeValue(forKey: id) } }
    }
}

extension TokenManager.Core {
    /// Removes and returns what must be done because a session has ended.
    mutating func takeEndings() -> [TokenManager.Ending] {
        guard !endings.isEmpty else { return [] }
        let due = endings.filter { machine.end(of: $0.value.owner) != nil }
        for id in due.keys { endings[id] = nil }
        return Array(due.values)
    }
}
