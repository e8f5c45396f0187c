extension SessionStateMachine {
    /// The state to publish; `nil` to keep the published one.
    func visibleState(at now: Duration) -> SessionState? {
        guard let session else {
            return switch absence {
            case .unknown(nil): .loading
            case .unknown(let failure?): failure.kind.isTransient ? .unavailable(failure) : .unreadable(failure)
            case .signedOut: .signedOut
            case .expired(let reason, _): .expired(reason)
            }
        }
        guard session.isVisible else { return nil }
        return .signedIn(
            SignedInSession(
                id: session.record.id, account: session.record.account,
                isStale: (session.lastFailure ?? session.confirmationFailure) != nil && !session.isUsable(at: now),
                saveFailure: session.saveFailure, replacedRecord: session.replacedRecord))
    }

    /// Whether the store is still unread.
    var isUnread: Bool {
        if session == nil, case .unknown = absence { true } else { false }
    }

    /// The reason why the store could not be read; `nil` if it was read, or if the first reading is still under way.
    var readFailure: StorageError? {
        if session == nil, case .unknown(let failure) = absence { failure } else { nil }
    }

    /// The token that ``TokenManager/freshCredential(for:)`` returns without an event, and the time until which it may.
    var cachedCredential: (credential: Credential, until: Duration?)? {
        guard let session, session.isVisible, !session.isRejected, session.withheld == nil else { return nil }
        return (session.credential, session.record.tokens.refreshToken == nil ? nil : session.deadlines?.refreshAt)
    }

    /// The stamp of a token, if it is the current access token.
    func stamp(of token: Secret) -> SessionStamp? {
        guard let session, session.isVisible else { return nil }
        return session.record.tokens.accessToken == token ? session.record.stamp : nil
    }

    /// The tokens in use, with their expiry by this device's clock; `nil` if callers may use none.
    var currentTokens: Tokens? {
        guard let session, session.isVisible, session.withheld == nil else { return nil }
        let isExpiryKnown = session.deadlines != nil
        return session.record.tokens.expiring(at: isExpiryKnown ? session.record.estimatedExpiry : nil)
    }

    /// The record of the current session: the newest one, even if it is still being saved.
    var currentRecord: StoredSession? {
        session?.newest.record
    }

    /// The current token, if it has not expired, for a caller whose refresh has failed. The failure has cleared a
    /// rejection by one endpoint, because other endpoints may still accept the token.
    func credential(
        despite failure: RefreshError, for owner: CallOwner, at now: Duration
    ) -> Result<Credential, SessionError> {
        if let error = mismatch(with: owner) { return .failure(error) }
        // The session may have expired since the caller was resumed.
        if self.session == nil, case .expired(let reason, _) = absence { return .failure(.expired(reason)) }
        guard let session, session.isUsable(at: now) else { return .failure(.refreshFailed(failure)) }
        return .success(session.credential)
    }

    /// Whether a request signed with this token may still be sent: the token is current and has not been rejected.
    func isUsable(_ stamp: SessionStamp) -> Bool {
        guard let session, session.isVisible else { return false }
        return session.record.stamp == stamp && !session.isRejected
    }

    /// Whether a request that has waited with this token needs another one before it is sent: the token has expired or
    /// was replaced. An expired token that cannot be refreshed is left to the server. The end of the session is
    /// reported by `endError(for:)`.
    func isOutdated(_ stamp: SessionStamp, at now: Duration) -> Bool {
        guard let session, session.isVisible, session.record.id == stamp.session else { return false }
        guard session.record.stamp == stamp else { return true }
        guard let deadlines = session.deadlines, session.hasRefreshToken else { return false }
        return deadlines.expiresAt <= now
    }

    /// Whether a caller that has waited for this token must ask again before it uses it: the session has ended, or the
    /// token has expired or was replaced.
    func isStale(_ stamp: SessionStamp, at now: Duration) -> Bool {
        guard let session, session.isVisible, session.record.id == stamp.session else { return true }
        return isOutdated(stamp, at: now)
    }

    /// Whether the request of a caller that probes this token may still be sent. It may not if it has waited so long
    /// that the refresh failed and the token was rejected again: other callers then probe it.
    func mayProbe(_ stamp: SessionStamp, by prober: WaiterID, at now: Duration) -> Bool {
        guard let session, session.isVisible, session.record.stamp == stamp, !session.isExpired(at: now) else {
            return false
        }
        guard case .rejected(let probes) = session.standing else { return true }
        return probes.contains(prober)
    }

    /// Whether this session has a newer token than the given one, which the server has rejected.
    func hasSuccessor(of stamp: SessionStamp) -> Bool {
        guard let session, session.isVisible else { return false }
        return session.record.id == stamp.session && session.record.rotation > stamp.rotation
    }
}

extension SessionStateMachine {
    /// The uptime from which a request for the token starts a refresh; `nil` if none does, or during a refresh.
    func nextRefresh() -> Duration? {
        guard let session, session.isVisible, session.hasRefreshToken, let deadlines = session.deadlines else {
            return nil
        }
        return switch session.refresh {
        case .idle: deadlines.refreshAt
        case .backingOff(let end): max(deadlines.refreshAt, end)
        case .preparing, .sending, .storing, .confirmingExpiry: nil
        }
    }
}

// MARK: - The session that a call belongs to

extension SessionStateMachine {
    /// The owner of a call that is made now.
    ///
    /// While a sign-in is being saved, callers still see the state before it, and their calls belong to that: they fail
    /// instead of going out as another user.
    var callOwner: CallOwner {
        if let session {
            if !session.isVisible, let shown = session.shownOwner { return shown }
            return CallOwner(epoch: epoch, signInState: .session(session.record.id))
        }
        let signInState: CallOwner.SignInState =
            switch absence {
            case .unknown: .unknown
            case .signedOut: .signedOut
            case .expired: .expired
            }
        return CallOwner(epoch: epoch, signInState: signInState)
    }

    /// The owner of the calls that a refresher makes; `nil` if the refresh is over.
    func owner(of job: RefreshJob) -> CallOwner? {
        isSending(job) ? callOwner : nil
    }

    /// The reason why a call may not use the current session; `nil` if it may, or if the store had not been read.
    func mismatch(with owner: CallOwner) -> SessionError? {
        guard owner.epoch != epoch else { return nil }
        // A call that was made while no user was signed in continues without a token.
        return owner.signInState == .signedOut ? .signedOut : .sessionChanged
    }

    /// The reason why nothing more may be sent or received for a call; `nil` if its session continues.
    func endError(for owner: CallOwner) -> SessionError? {
        guard owner.isBound else { return nil }
        if session == nil, case .expired(let reason, _) = absence, owner.session != nil, owner.epoch == epoch {
            return .expired(reason)
        }
        // Of the calls without a session, only one that was made while the user was signed out may continue when a
        // session starts. After an expiry, a call belongs to the session that has expired.
        return owner.signInState == .signedOut ? nil : mismatch(with: owner)
    }
}
