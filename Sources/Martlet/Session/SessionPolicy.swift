/// When tokens are renewed, how often, and how failures are spaced.
public struct SessionPolicy: Sendable, Hashable {
    /// The share of a token's lifetime that counts as "about to expire", from 0 to 1. Default 0.1.
    public var leewayFraction: Double = 0.1
    /// The longest that a token counts as "about to expire". Default 60 s.
    public var maximumLeeway: Duration = .seconds(60)
    /// No token is renewed on account of a clock within this time of being issued. Default 5 s.
    public var minimumInterval: Duration = .seconds(5)
    /// How many refreshes one session may start within ``refreshWindow``. Default 5.
    public var refreshBudget: Int = 5
    /// The window of ``refreshBudget``. Default 30 s.
    public var refreshWindow: Duration = .seconds(30)
    /// The first wait after a failed refresh; it doubles with each further one, with full jitter. Default 1 s.
    public var firstCoolDown: Duration = .seconds(1)
    /// The longest wait after a failed refresh, unless the server asks for more. Default 60 s.
    public var maximumCoolDown: Duration = .seconds(60)
    /// The longest wait that a server's `Retry-After` is granted. Default 15 minutes.
    public var maximumRetryAfter: Duration = .seconds(900)
    /// How long a refresh may take. Default 30 s.
    public var refreshTimeout: Duration = .seconds(30)
    /// How long the server still takes a refresh token that it has replaced, as RFC 9700, section 4.14.2, lets it for
    /// lost answers: say so here if yours does. Within this time a lost answer is recovered by sending the same token
    /// once more. Default zero: a replaced token is never sent again.
    public var rotationGrace: Duration = .zero
    /// How long another process may be in the middle of a refresh before it counts as dead. Default 45 s. Keep it the
    /// same in all processes, and, where the server grants one, below ``rotationGrace``.
    public var lockLease: Duration = .seconds(45)
    /// How long the store may take for one operation, or for those before it, until it counts as failed. Default 10 s.
    public var storeTimeout: Duration = .seconds(10)
    /// The first wait before a failed write to the store is tried again; it doubles up to ``maximumCoolDown``. Default 1 s.
    public var firstSaveRetry: Duration = .seconds(1)

    /// The defaults.
    public init() {}

    /// How often a token is sent again for one refresh, after its answer was lost.
    var lostAnswerReplays: Int { 1 }

    /// How long one try of a refresh may take: a second one must still fall into the grace, and both into the lease.
    var attemptTimeout: Duration {
        let isGraceful = rotationGrace > .zero
        return min(
            refreshTimeout, lockLease * (isGraceful ? 0.4 : 0.8), isGraceful ? rotationGrace / 2 : refreshTimeout)
    }

    /// The wait before a failed write or deletion is tried again.
    func saveRetry(afterFailures count: Int) -> Duration {
        min(firstSaveRetry * (1 << min(max(count - 1, 0), 20)), maximumCoolDown)
    }

    /// How long before its end a token of this lifetime is renewed, without jitter.
    func leeway(forLifetime lifetime: Duration) -> Duration {
        min(maximumLeeway, lifetime * min(max(leewayFraction, 0), 1))
    }

    /// The wait after the given count of failures in a row.
    func coolDown(afterFailures count: Int, retryAfter: Duration?, jitter: Double) -> Duration {
        if let retryAfter { return min(max(retryAfter, .zero), maximumRetryAfter) }
        let ceiling = min(maximumCoolDown, firstCoolDown * (1 << min(max(count - 1, 0), 20)))
        return ceiling * min(max(jitter, 0), 1)
    }
}

/// A token's life on the device's own clock.
struct TokenLife: Sendable, Hashable {
    /// From here on the token should be renewed when somebody asks for it.
    let refreshAt: Duration
    /// From here on it is not handed out any more.
    let expiresAt: Duration

    /// - Parameters:
    ///   - obtainedAt: Uptime at which the token came; may lie before the start of the process.
    ///   - lasting: How long it was good for at that moment.
    ///   - lifetime: How long such tokens live, from which the leeway is taken.
    ///   - jitter: From 0 to 1; spreads a fleet of clients over a quarter of the leeway.
    init(obtainedAt: Duration, lasting: Duration, lifetime: Duration, policy: SessionPolicy, jitter: Double) {
        let leeway = policy.leeway(forLifetime: lifetime) * (1 + min(max(jitter, 0), 1) / 4)
        // A token that lives shorter than the leeway would otherwise be renewed with every call.
        let earliest = obtainedAt + max(policy.minimumInterval, lasting / 2)
        self.refreshAt = max(obtainedAt + lasting - leeway, earliest)
        self.expiresAt = max(obtainedAt + lasting, earliest)
    }
}
