/// The stored form of a ``CallOwner``, for work that outlives the process, such as a background transfer or the kept
/// bytes of a download.
package enum StoredOwner: Hashable, Sendable, Codable {
    /// No user was signed in, or the client has no manager. Such work does not end with a session.
    case noUser
    /// The store could not be read. The owner is the session that the store contains.
    case unreadStore
    case session(SessionID, userID: String?)

    /// The relation between the owner and the current sign-in state.
    package enum Standing: Sendable {
        /// The owner is the current session, or the work belongs to no user.
        case current
        /// This session continues the owner's work: the same user has signed in again after an expiry, or the store
        /// could not be read when the work began.
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

    /// The owner's session; `nil` if there is none, or if it is unknown.
    package var session: SessionID? {
        if case .session(let id, _) = self { id } else { nil }
    }

    /// - Parameter state: The state of the client's manager; `nil` if it has none.
    package func standing(in state: SessionState?) -> Standing {
        switch (self, state) {
        case (.noUser, _), (.unreadStore, nil): .current
        case (_, .loading), (_, .unavailable), (_, .unreadable): .unknown
        case (.unreadStore, .signedIn(let current)): .renewed(current)
        // The user who has signed out or expired may have been the owner.
        case (.unreadStore, .signedOut), (.unreadStore, .expired): .ended
        case (.session(let id, let userID), .signedIn(let current)):
            current.id == id ? .current : current.account.continues(userID) ? .renewed(current) : .ended
        case (.session, .expired): .expired
        case (.session, .signedOut), (.session, nil): .ended
        }
    }

    /// Whether the owner has ended, given the sessions of a user who has signed out or was replaced.
    package func hasEnded(with sessions: Set<SessionID>) -> Bool {
        switch self {
        case .noUser: false
        case .unreadStore: true
        case .session(let id, _): sessions.contains(id)
        }
    }
}

extension SessionAccount {
    /// Whether a sign-in of this account continues the work of an earlier user. An empty ID identifies no user, and a
    /// guest is never recognized as an earlier one. IDs are compared byte by byte, like ``AccountID``.
    func continues(_ formerUserID: String?) -> Bool {
        guard let formerUserID, let userID, !formerUserID.isEmpty, !isGuest else { return false }
        return formerUserID.utf8.elementsEqual(userID.utf8)
    }
}
