/// The owner of something that outlives the process, such as the kept bytes of a download or a background transfer: the
/// form of a ``CallOwner`` that is stored with it.
package enum StoredOwner: Hashable, Sendable, Codable {
    /// No user was signed in, or the client has no manager. Work that belongs to no user ends with none.
    case noUser
    /// The store could not be read. The owner is the session that it contains.
    case unreadStore
    case session(SessionID, userID: String?)

    /// The meaning of the sign-in state for the owner.
    package enum Standing: Sendable {
        /// The owner is the current session, or no user.
        case current
        /// The owner continues as this session: the same user has signed in again after an expiry, or the session was not
        /// known before.
        case renewed(SignedInSession)
        /// The session has expired, and no user has signed in since.
        case expired
        /// The user has signed out, or another one has signed in.
        case ended
        /// The store cannot be read now.
        case unknown
    }

    package init(_ session: SignedInSession) {
        self = .session(session.id, userID: session.account.userID)
    }

    /// `nil` if there is none, or if it is not known.
    package var session: SessionID? {
        if case .session(let id, _) = self { id } else { nil }
    }

    /// - Parameter state: The state of the client's manager; `nil` if it has none.
    package func standing(in state: SessionState?) -> Standing {
        switch (self, state) {
        case (.noUser, _), (.unreadStore, nil): .current
        case (_, .loading), (_, .unavailable), (_, .unreadable): .unknown
        case (.unreadStore, .signedIn(let current)): .renewed(current)
        // The user who is not signed in any more may have been the owner.
        case (.unreadStore, .signedOut), (.unreadStore, .expired): .ended
        case (.session(let id, let userID), .signedIn(let current)):
            current.id == id ? .current : current.account.continues(userID) ? .renewed(current) : .ended
        case (.session, .expired): .expired
        case (.session, .signedOut), (.session, nil): .ended
        }
    }

    /// Whether the owner ends with sessions of a user who has gone.
    package func hasEnded(with sessions: Set<SessionID>) -> Bool {
        switch self {
        case .noUser: false
        case .unreadStore: true
        case .session(let id, _): sessions.contains(id)
        }
    }
}

extension SessionAccount {
    /// Whether a sign-in of this user continues the work that a user has begun. An empty ID names no user, and no guest
    /// is known to be the same as another one. IDs are compared byte by byte, like ``AccountID``.
    func continues(_ formerUserID: String?) -> Bool {
        guard let formerUserID, let userID, !formerUserID.isEmpty, !isGuest else { return false }
        return formerUserID.utf8.elementsEqual(userID.utf8)
    }
}
