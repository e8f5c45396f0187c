/// The relation of a transfer to the current session.
enum TransferOwnership: Sendable {
    /// The transfer belongs to the current session, or to no user.
    case current
    /// The transfer continues under this session: the same user has signed in again after an expiry, or the session of
    /// the transfer was not known before.
    case renewed(SignedInSession)
    /// The session of the transfer has expired, and no user has signed in since.
    case expired
    /// The user of the transfer has signed out, or another one has signed in.
    case ended
    /// The store cannot be read now.
    case unknown
}

extension TransferRecord {
    /// - Parameter state: The state of the client's manager; `nil` if it has none.
    func ownership(in state: SessionState?) -> TransferOwnership {
        guard let session else { return ownershipWithoutSession(in: state) }
        switch state {
        case .signedIn(let current) where current.id == session: return .current
        case .signedIn(let current):
            return current.account.continues(userID) ? .renewed(current) : .ended
        case .expired: return .expired
        case .signedOut, nil: return .ended
        case .loading, .unavailable, .unreadable: return .unknown
        }
    }

    private func ownershipWithoutSession(in state: SessionState?) -> TransferOwnership {
        guard absence != .noUser, let state else { return .current }
        switch state {
        case .signedIn(let current): return .renewed(current)
        // An older version let such a transfer go on without a user. If the store could not be read at its start, the
        // user who has signed out by now may have started it.
        case .signedOut, .expired: return absence == nil ? .current : .ended
        case .loading, .unavailable, .unreadable: return .unknown
        }
    }
}

extension TransferRecord {
    /// Whether the transfer ends with sessions of a user who has gone.
    func hasEnded(with sessions: Set<SessionID>) -> Bool {
        if let session { return sessions.contains(session) }
        switch absence {
        case .noUser: return false
        // The transfer belongs to the session that the store contained.
        case .unreadStore: return true
        case nil: return !sessions.isEmpty
        }
    }
}

extension BackgroundTransfers.State {
    /// Whether the owner of a transfer has ended for good.
    func hasEnded(_ record: TransferRecord) -> Bool {
        ended.contains(record.id) || record.session.map(endedSessions.contains) == true
    }
}

/// A transfer as subscribers are told of it.
struct TransferAnnouncement: Sendable {
    let transfer: BackgroundTransfer
    let record: TransferRecord

    /// Whether the announcement is that the transfer has ended with its owner.
    var isEnd: Bool { transfer.stage == .failed(.sessionEnded) }

    /// Whether a subscriber may learn of the transfer now. Waits while the store cannot be read.
    func isDue(in tokens: TokenManager?) async -> Bool {
        // Only earlier subscribers are sent the end of a session.
        guard let tokens, !isEnd else { return true }
        for await state in tokens.states {
            switch record.ownership(in: state) {
            case .current, .renewed, .expired: return true
            case .ended: return false
            case .unknown: continue
            }
        }
        return false
    }
}
