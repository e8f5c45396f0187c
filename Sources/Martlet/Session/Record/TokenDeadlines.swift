/// When an access token must be refreshed and when it expires, on the monotonic clock of ``TimeSource/uptime``.
struct TokenDeadlines: Sendable, Hashable {
    /// From this time on, a request for the token starts a refresh, if there is a refresh token.
    let refreshAt: Duration
    /// From this time on, callers wait for a new token, if there is a refresh token.
    let expiresAt: Duration

    /// - Parameters:
    ///   - obtainedAt: The uptime at which the token was received; may be before the start of the process.
    ///   - remaining: The lifetime that remained at that time.
    ///   - lifetime: The whole lifetime, from which the leeway is computed.
    ///   - jitter: From 0 to 1; spreads the refreshes of many clients over a quarter of the leeway.
    init(obtainedAt: Duration, remaining: Duration, lifetime: Duration, policy: SessionPolicy, jitter: Double) {
        let leeway = policy.leeway(forLifetime: lifetime) * (1 + min(max(jitter, 0), 1) / 4)
        // Without a minimum, every call would refresh a token whose remaining lifetime is shorter than the leeway.
        let earliest = obtainedAt + max(policy.minimumInterval, remaining / 2)
        self.refreshAt = max(obtainedAt + remaining - leeway, earliest)
        self.expiresAt = max(obtainedAt + remaining, earliest)
    }
}
