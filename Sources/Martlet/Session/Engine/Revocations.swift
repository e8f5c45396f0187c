/// Tells the server which tokens are no longer in use. A failed attempt is repeated a few times at growing intervals,
/// because a user may sign out while offline. It is not repeated if the server refused the revocation for good.
final class Revocations: Sendable {
    private let revoker: TokenRevoker?
    private let endpoint: TokenEndpointClient
    private let policy: SessionPolicy
    private let time: any TimeSource
    private let limits: TimeLimits
    /// The last revocation. The task's value says whether the server has confirmed it.
    private let last = Locked<Task<Bool, Never>?>(nil)
    /// Whether an attempt of the last revocation has failed. If so, that has been reported with its reason.
    private let hasFailed = Locked(false)

    /// The result of a wait for a revocation.
    enum Ending {
        case confirmed
        case unconfirmed
        /// The server has not responded within the limit, and no attempt has failed.
        case late
    }

    init(_ revoker: TokenRevoker?, over endpoint: TokenEndpointClient, policy: SessionPolicy, limits: TimeLimits) {
        self.revoker = revoker
        self.endpoint = endpoint
        self.policy = policy
        self.time = endpoint.time
        self.limits = limits
    }

    /// Starts the revocation of tokens without waiting for it.
    /// - Parameters:
    ///   - expiresAt: The uptime from which the access token is not sent; `nil` if its lifetime is unknown. A strict
    ///     server rejects a revocation with an expired token.
    ///   - isInUse: Called before each attempt. Returns whether the current session uses the tokens: a server may issue
    ///     the same ones for each sign-in of a user.
    ///   - report: Called after each attempt.
    func start(
        _ tokens: Tokens, expiringAt expiresAt: Duration?, unless isInUse: @escaping @Sendable () -> Bool,
        report: @escaping @Sendable (SessionEvent) -> Void
    ) {
        guard let revoker else { return }
        hasFailed.withLock { $0 = false }
        let pending = Pending(tokens: tokens, expiresAt: expiresAt, isInUse: isInUse, report: report)
        let task = Task { await revoke(pending, with: revoker) }
        last.withLock { $0 = task }
    }

    /// Waits for the last revocation, if there is one.
    func finish(within limit: Duration) async -> Ending {
        guard let task = last.withLock({ $0 }) else { return .unconfirmed }
        switch await limits.run(within: limit, { await task.value }) {
        case .success(let isConfirmed): return isConfirmed ? .confirmed : .unconfirmed
        case .failure: return Task.isCancelled || hasFailed.withLock { $0 } ? .unconfirmed : .late
        }
    }

    /// A revocation, as ``start(_:expiringAt:unless:report:)`` describes it.
    private struct Pending: Sendable {
        let tokens: Tokens
        let expiresAt: Duration?
        let isInUse: @Sendable () -> Bool
        let report: @Sendable (SessionEvent) -> Void
    }

    private func revoke(_ pending: Pending, with revoker: TokenRevoker) async -> Bool {
        var wait = policy.firstBackoff
        var isRejected = false
        for attempt in 1...6 {
            if pending.isInUse() { return false }
            let isExpired = isRejected || pending.expiresAt.map { $0 <= time.uptime } ?? false
            let result = await limits.run(within: policy.refreshTimeout) { [endpoint] in
                try await revoker.revoke(pending.tokens, sendingAccessToken: !isExpired, over: endpoint)
            }
            switch result {
            case .success:
                pending.report(.revoked)
                return true
            case .failure(let error):
                hasFailed.withLock { $0 = true }
                pending.report(.revocationFailed(Redaction.redact(String(describing: error))))
                if error is TokenRevoker.Refusal { return false }
                if (error as? RefreshError)?.kind == .status(401) { isRejected = true }
            }
            guard attempt < 6, (try? await time.sleep(until: time.uptime + wait)) != nil else { return false }
            wait = min(wait * 4, policy.maximumRetryAfter)
        }
        return false
    }
}
