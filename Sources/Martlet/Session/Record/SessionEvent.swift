/// One step in the life of a session, for logs, metrics and tests. It never contains a token.
@nonexhaustive public enum SessionEvent: Sendable, Hashable {
    /// The reason why a refresh was started.
    @nonexhaustive public enum RefreshReason: Sendable, Hashable {
        /// The token is about to expire. Calls use it until the refresh is done.
        case expiringSoon
        /// The token has expired.
        case expired
        /// The server rejected the token.
        case rejected
        /// The app called ``TokenManager/refresh()``.
        case forced
    }

    /// The store was read. The stamp is `nil` if it contains no session.
    case restored(SessionStamp?)
    /// A user signed in.
    case signedIn(SessionStamp)
    /// The user signed out.
    case signedOut(SessionID?)
    /// A refresh was started.
    case refreshStarted(SessionStamp, RefreshReason)
    /// A caller joined a refresh in progress.
    case refreshJoined(SessionStamp)
    /// A refresh succeeded; the stamp is the new one.
    case refreshSucceeded(SessionStamp)
    /// A refresh failed with a transient error. The next one starts after the backoff at the earliest.
    case refreshFailed(SessionStamp, RefreshError, backoff: Duration)
    /// The response to a refresh was lost. The same refresh token is sent again, because
    /// ``SessionPolicy/rotationGrace`` is not over.
    case refreshReplayed(SessionStamp, RefreshError)
    /// The stored session contains an unfinished refresh, for example because its process was killed. It may also be
    /// the refresh of another process that is alive and refreshing now. The server may have spent the refresh token. If
    /// the server rejects that token, the session ends with ``ExpiryReason/rotationLost``.
    case refreshInterrupted(SessionStamp)
    /// Another process refreshed the tokens or signed a user in. This process now uses the stored session.
    case adopted(SessionStamp)
    /// Another process signed the user out. The session is the last one that this process used, even if it had expired;
    /// `nil` if it used none.
    case signedOutElsewhere(SessionID?)
    /// A refresh was not started because ``SessionPolicy/refreshBudget`` is used up.
    case refreshBudgetExceeded(SessionStamp)
    /// A refresh was abandoned before it sent anything, or its result was discarded. Either the session has ended, or
    /// it already has newer tokens: from another process, or from an earlier refresh that finished late.
    case refreshDiscarded(SessionStamp)
    /// While a refresh was taking a long time, a call went out with a token that another endpoint had rejected. If the
    /// server accepts it, all calls use the token until the refresh ends.
    case tokenProbed(SessionStamp)
    /// The session ended because the server no longer accepts its tokens.
    case expired(SessionID, ExpiryReason)
    /// The record could not be read. A session that this process has already read goes on in memory, and the reading is
    /// repeated.
    case storeReadFailed(StorageError)
    /// The record could not be written. The session continues in memory, and the write is retried.
    case storeWriteFailed(StorageError)
    /// The record of a session that has ended could not be deleted. The deletion is retried.
    case storeDeleteFailed(StorageError)
    /// The lock that keeps other processes from refreshing at the same time could not be acquired. The refresh goes on
    /// without it, unless another process may hold it: if it was not acquired in time, if the device is locked, or if
    /// the process has too many files open or too little memory.
    case storeLockFailed(StorageError)
    /// The system cannot notify this process when another process changes the record, for example because the user's
    /// inotify watches are used up.
    /// The manager checks the record every few seconds instead.
    case storeWatchFailed(StorageError)
    /// A user signed in or out before this process could read the store, or signed in twice while it could not be
    /// written. The clock decides which sessions came before that and therefore end, including those of other
    /// processes.
    case orderedByClock
    /// A sign-in replaced a record that could not be read, for example because a newer version wrote it.
    case replacedUnreadableRecord(StorageError)
    /// The store is up to date again after a failure.
    case storeRecovered(SessionStamp?)
    /// The tokens were revoked at the server.
    case revoked
    /// The tokens could not be revoked at the server, or not yet. The text says why.
    case revocationFailed(String)
}
