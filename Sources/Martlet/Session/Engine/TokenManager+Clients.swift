extension TokenManager {
    /// The fast path: a token that needs no refresh, without suspending.
    func freshCredential() -> Credential? {
        let now = time.uptime
        return core.withLock { core in
            guard let cached = core.cached else { return nil }
            guard let until = cached.until, until <= now else { return cached.credential }
            return nil
        }
    }

    /// A valid token. Suspends while the store is read or the token is refreshed.
    func credential() async -> Result<Credential, SessionError> {
        if let credential = freshCredential() { return .success(credential) }
        return await resolve { machine, waiter, now in machine.tokenRequested(by: waiter, at: now) }
    }

    /// A token for a long request, refreshed first if it would expire during the request. If it cannot be refreshed
    /// now, the current token.
    func credential(lasting need: Duration) async -> Result<Credential, SessionError> {
        let reply = await resolve { machine, waiter, now in
            machine.tokenRequested(lasting: need, by: waiter, at: now)
        }
        guard case .failure(.refreshFailed) = reply else { return reply }
        return await credential()
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

    /// Whether a request signed with this token may still be sent.
    func isUsable(_ stamp: SessionStamp) -> Bool {
        core.withLock { $0.machine.isUsable(stamp) }
    }

    /// Whether this is the current session.
    func isCurrent(_ session: SessionID) -> Bool {
        core.withLock { $0.machine.currentRecord?.id == session }
    }

    /// Whether tokens may be sent to an origin.
    func mayCarryToken(to origin: Origin) -> Bool {
        guard allowsInsecureHTTP || !origin.isInsecure else { return false }
        return origin == baseURL.origin || trustedOrigins.contains(origin)
    }
}
