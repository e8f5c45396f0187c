/// The rules for refreshes: when, how often, and how long to wait after a failure.
public struct SessionPolicy: Sendable, Hashable {
    /// The last fraction of a token's lifetime, from 0 to 1, during which it counts as about to expire. The default is
    /// 0.1.
    public var leewayFraction: Double = 0.1
    /// The upper limit of the time that ``leewayFraction`` gives. Jitter adds up to 25 percent. The default is 60 s.
    public var maximumLeeway: Duration = .seconds(60)
    /// The number of wasteful refreshes that one session may start within ``refreshWindow``. A refresh is wasteful if
    /// the server rejected the token, or the app called ``TokenManager/refresh()``, in the first half of the token's
    /// lifetime.
    ///
    /// If the lifetime is unknown, a refresh is wasteful until the server has accepted the token. After that, a refresh
    /// after a rejection counts as wasteful until the rejected call succeeds with the new token. The budget stops an
    /// endpoint that rejects every token from causing endless refreshes. Replacing an expired token never counts. The
    /// default is 5.
    public var refreshBudget: Int = 5
    /// The window of ``refreshBudget``. The default is 30 s.
    public var refreshWindow: Duration = .seconds(30)
    /// The backoff after the first failed refresh. It doubles with each further failure, with full jitter. The default
    /// is 1 s.
    public var firstBackoff: Duration = .seconds(1)
    /// The longest backoff after a failed refresh, unless the server asks for more. The default is 60 s.
    public var maximumBackoff: Duration = .seconds(60)
    /// The longest wait that a server's `Retry-After` can cause. A longer one is shortened to this. The default is 15
    /// minutes.
    public var maximumRetryAfter: Duration = .seconds(900)
    /// The time that one attempt of a refresh or a revocation may take at the token endpoint. A refresh gets less time
    /// if ``lockLease`` or ``rotationGrace`` is short. The default is 30 s.
    public var refreshTimeout: Duration = .seconds(30)
    /// The time for which the server accepts a refresh token that it has already replaced (RFC 9700, section 4.14.2).
    /// Set it if your server has such a grace period: after a lost response, the same refresh token is sent again at
    /// once within this time, unless the server has asked for a pause (`Retry-After`). The default is zero: the token
    /// is sent again only after the backoff.
    public var rotationGrace: Duration = .zero
    /// The time for which another process may hold the refresh lock before it counts as dead. The default is 45 s. Use
    /// the same value in all processes. If you assign ``rotationGrace``, set this to less, or the grace period may be
    /// over when another process can take over the lock.
    public var lockLease: Duration = .seconds(45)
    /// The time that an operation on the store may take, including the wait for earlier operations, before it counts as
    /// failed. The default is 10 s.
    public var storeTimeout: Duration = .seconds(10)
    /// The delay before a failed write or deletion in the store is retried. It doubles up to ``maximumBackoff``. The
    /// default is 1 s.
    public var firstSaveRetry: Duration = .seconds(1)
    /// Whether tokens are used only after the store contains them. The default is `false`: if the write fails, the new
    /// tokens are used from memory.
    ///
    /// If the tokens of a refresh cannot be written, the session is kept in memory and the write is retried. Until a
    /// retry succeeds, calls fail with ``NetworkError/refreshFailed(_:_:_:)`` and ``RefreshError/Kind/notSaved``, and
    /// calls that the server rejected are not replayed. If the tokens of a sign-in cannot be written, the sign-in
    /// throws ``SessionError/unavailable(_:)``, its tokens are revoked, and no user is signed in.
    public var requiresSavedTokens: Bool = false

    /// The default rules, and the grace period of your server.
    ///
    /// ```swift
    /// let policy = SessionPolicy(rotationGrace: .seconds(30))     // lockLease is 24 s
    /// ```
    /// - Parameter rotationGrace: The value of ``rotationGrace``. With a grace period, ``lockLease`` is at most 80
    ///   percent of it.
    public init(rotationGrace: Duration = .zero) {
        self.rotationGrace = rotationGrace
        if rotationGrace > .zero { lockLease = min(lockLease, rotationGrace * 0.8) }
    }

    /// The number of times that one refresh sends its token again after a lost response.
    var lostResponseReplays: Int { 1 }

    /// The time that one attempt of a refresh may take. A second attempt must still fit into the grace period, and both
    /// into the lease.
    var attemptTimeout: Duration {
        let isGraceful = rotationGrace > .zero
        return min(
            refreshTimeout, lockLease * (isGraceful ? 0.4 : 0.8), isGraceful ? rotationGrace / 2 : refreshTimeout)
    }

    /// The delay before a failed write or deletion is retried.
    func saveRetry(afterFailures count: Int) -> Duration {
        min(firstSaveRetry * (1 << min(max(count - 1, 0), 20)), maximumBackoff)
    }

    /// The time before its expiry at which a token of this lifetime is refreshed, without jitter.
    func leeway(forLifetime lifetime: Duration) -> Duration {
        min(maximumLeeway, lifetime * min(max(0, leewayFraction), 1))
    }

    /// The backoff after a refresh that never reached the server, for example because the device is offline or the
    /// store cannot be read. When the cause is gone, the next call must not have to wait.
    func backoffWithoutServer(jitter: Double) -> Duration {
        min(firstBackoff, .milliseconds(250)) * min(max(jitter, 0), 1)
    }

    /// The backoff after a number of consecutive failed refreshes.
    func backoff(afterFailures count: Int, failure: RefreshError, jitter: Double) -> Duration {
        // Ignore zero, as from a date in the past: without a backoff, every call would send a refresh.
        if let retryAfter = failure.retryAfter, retryAfter > .zero { return min(retryAfter, maximumRetryAfter) }
        let ceiling = min(maximumBackoff, firstBackoff * (1 << min(max(count - 1, 0), 20)))
        return ceiling * min(max(jitter, 0), 1)
    }
}
