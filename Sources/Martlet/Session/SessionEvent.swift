/// One step of a session's life, for logs, metrics and tests. It never holds a token.
public enum SessionEvent: Sendable, Hashable {
    /// Why a refresh was started.
    public enum RefreshReason: Sendable, Hashable {
        /// The token is about to expire; it still serves the others meanwhile.
        case expiringSoon
        /// The token has expired.
        case expired
        /// The server refused the token.
        case rejected
        /// The app asked for it.
        case forced
    }

    /// Why the result of a refresh was thrown away.
    public enum DiscardReason: Sendable, Hashable {
        /// The user signed out meanwhile.
        case signedOut
        /// Another session took its place meanwhile.
        case sessionChanged
        /// The session got newer tokens another way: from another process, or from an answer that came late.
        case superseded
    }

    /// What was to be done to the store.
    public enum StoreOperation: Sendable, Hashable {
        /// Reading the record.
        case read
        /// Writing the record.
        case write
        /// Deleting the record.
        case delete
        /// Keeping other processes from refreshing at the same time. The refresh goes on without.
        case lock
    }

    /// The store was read: somebody is signed in, or nobody.
    case restored(SessionStamp?)
    /// Somebody signed in.
    case signedIn(SessionStamp)
    /// The user signed out.
    case signedOut(SessionID?)
    /// A refresh was started.
    case refreshStarted(SessionStamp, RefreshReason)
    /// A caller waits for a refresh that is under way.
    case refreshJoined(SessionStamp)
    /// A refresh succeeded; the stamp is the new one.
    case refreshSucceeded(SessionStamp)
    /// A refresh failed for now; the next one is made after the wait at the earliest.
    case refreshFailed(SessionStamp, RefreshFailure, coolDown: Duration)
    /// The answer of a refresh was lost. Within ``SessionPolicy/rotationGrace`` the same refresh token is sent once more.
    case refreshReplayed(SessionStamp, RefreshFailure)
    /// The stored session says that a refresh was under way when the process that made it died. Nobody knows whether the
    /// server has spent the refresh token; if it refuses it, the session ends with ``ExpiryReason/rotationLost``.
    case refreshWasCutShort(SessionStamp)
    /// Another process renewed the tokens, or signed somebody in, and this one goes on with what it has stored.
    case adopted(SessionStamp)
    /// Another process signed the user out.
    case signedOutElsewhere(SessionID)
    /// A refresh was not made, since the session has used up its budget.
    case refreshRefused(SessionStamp)
    /// The answer of a refresh came too late and was thrown away.
    case refreshDiscarded(SessionStamp, DiscardReason)
    /// The server ended the session.
    case expired(SessionID, ExpiryReason)
    /// The store could not do what was asked; it will be asked again.
    case storeFailed(StoreOperation, StorageFailure)
    /// The store has the newest tokens again after a failure.
    case storeRecovered(SessionStamp?)
    /// Tokens were revoked at the server.
    case revoked
    /// Tokens could not be revoked at the server, for a description of why.
    case revocationFailed(String)
}
