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
            let isSameUser = userID != nil && userID == current.account.userID
            return isSameUser && !current.account.isGuest ? .renewed(current) : .ended
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
        // user who is gone now may have started it.
        case .signedOut, .expired: return absence == nil ? .current : .ended
        case .loading, .unavailable, .unreadable: return .unknown
        }
    }
}

/// A transfer as subscribers are told of it.
struct TransferAnnouncement: Sendable {
    let transfer: BackgroundTransfer
    let record: TransferRecord

    /// Whether a subscriber may learn of the transfer now. Waits while the store cannot be read.
    func isDue(in tokens: TokenManager?) async -> Bool {
        // The end of a session is sent only to those who subscribed before it.
        guard let tokens, transfer.stage != .failed(.sessionEnded) else { return true }
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
