/// The times at which an access token must be refreshed and at which it expires, on the monotonic clock of
/// ``TimeSource/uptime``.
struct TokenDeadlines: Sendable, Hashable {
    /// From this time on, a request for the token starts a refresh, if there is a refresh token.
    let refreshAt: Duration
    /// From this time on, callers wait for a new token, if there is a refresh token.
    let expiresAt: Duration
    /// The time at which half of the token's life is over. A refresh before it may be wasteful
    /// (``SessionPolicy/refreshBudget``).
    let halfwayAt: Duration

    /// - Parameters:
    ///   - obtainedAt: The uptime at which the token was received; negative if that was before the process started.
    ///   - remaining: The lifetime that remained at that time.
    ///   - lifetime: The whole lifetime, from which the leeway is computed.
    ///   - jitter: From 0 to 1; spreads the refreshes of many clients over a quarter of the leeway.
    init(obtainedAt: Duration, remaining: Duration, lifetime: Duration, policy: SessionPolicy, jitter: Double) {
        let leeway = policy.leeway(forLifetime: lifetime) * (1 + min(max(jitter, 0), 1) / 4)
        // A token may arrive with less time left than the leeway. It is still used for half of that time.
        self.halfwayAt = obtainedAt + remaining / 2
        self.refreshAt = max(obtainedAt + remaining - leeway, halfwayAt)
        self.expiresAt = obtainedAt + remaining
    }
}
