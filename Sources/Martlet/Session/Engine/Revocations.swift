/// Tells the server which tokens are no longer in use. A failed attempt is repeated a few times at growing intervals,
/// because a user may sign out while offline. It is not repeated if the server refused the revocation for good.
final class Revocations: Sendable {
    private let revoker: TokenRevoker?
    private let endpoint: TokenEndpointClient
    private let rejection: AccessTokenRejectionRule
    private let policy: SessionPolicy
    private let time: any TimeSource
    private let limits: TimeLimits
    private let state = Locked(State())

    private struct State {
        /// The revocations under way, and those that ended during a wait, by their numbers. A task's value says whether
        /// the server has confirmed it.
        var tasks: [Int: Task<Bool, Never>] = [:]
        var ended: Set<Int> = []
        var count = 0
        /// The number of waits.
        var waits = 0
        /// Whether an attempt has failed during a wait. If so, that has been reported with its reason.
        var hasFailed = false

        /// Forgets the revocations that have ended, unless a wait asks for them.
        mutating func removeEnded() {
            guard waits == 0 else { return }
            for number in ended { tasks[number] = nil }
            (ended, hasFailed) = ([], false)
        }
    }

    /// A wait for the revocations that are under way or start from now on.
    struct Wait: Sendable {
        /// The revocations that had ended before.
        fileprivate let ended: Set<Int>
    }

    /// The result of a wait.
    enum Ending {
        /// There was a revocation, and the server has confirmed each.
        case confirmed
        /// There was no revocation.
        case nothing
        case unconfirmed
        /// The server has not responded within the limit, and no attempt has failed.
        case late
    }

    /// - Parameter rejection: The rule for responses that reject the access token.
    init(
        _ revoker: TokenRevoker?, over endpoint: TokenEndpointClient, rejection: AccessTokenRejectionRule,
        policy: SessionPolicy, limits: TimeLimits
    ) {
        self.revoker = revoker
        self.rejection = rejection
        self.endpoint = endpoint
        self.policy = policy
        self.time = endpoint.time
        self.limits = limits
    }

    /// Starts the revocation of tokens without waiting for it.
    ///
    /// Its task inherits the task-local values of the code that ended the session. If that code is an interceptor, a
    /// revoker that sends with the app's client would wait for the interceptor's slot otherwise.
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
        let pending = Pending(tokens: tokens, expiresAt: expiresAt, isInUse: isInUse, report: report)
        state.withLock { state in
            state.count += 1
            let number = state.count
            state.tasks[number] = Task {
                let isConfirmed = await revoke(pending, with: revoker)
                self.state.withLock { state in
                    state.ended.insert(number)
                    state.removeEnded()
                }
                return isConfirmed
            }
        }
    }

    /// Begins a wait, which ``finish(_:within:)`` ends.
    /// - Returns: `nil` if the app has no revoker.
    func startWait() -> Wait? {
        guard revoker != nil else { return nil }
        return state.withLock { state in
            state.waits += 1
            return Wait(ended: state.ended)
        }
    }

    /// Waits for the revocations that have not ended before the wait began.
    func finish(_ wait: Wait, within limit: Duration) async -> Ending {
        let tasks = state.withLock { state in state.tasks.filter { !wait.ended.contains($0.key) }.map(\.value) }
        let result = await limits.run(within: limit) {
            var isConfirmed = true
            for task in tasks where await !task.value { isConfirmed = false }
            return isConfirmed
        }
        let hasFailed = state.withLock { state in
            let hasFailed = state.hasFailed
            state.waits -= 1
            state.removeEnded()
            return hasFailed
        }
        switch result {
        case .success where tasks.isEmpty: return .nothing
        case .success(let isConfirmed): return isConfirmed ? .confirmed : .unconfirmed
        case .failure: return Task.isCancelled || hasFailed ? .unconfirmed : .late
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
            let result = await limits.run(within: policy.refreshTimeout) { [endpoint, rejection] in
                try await revoker.revoke(
                    pending.tokens, sendingAccessToken: !isExpired, rejectedBy: rejection, over: endpoint)
            }
            switch result {
            case .success:
                pending.report(.revoked)
                return true
            case .failure(let error):
                state.withLock { state in
                    if state.waits > 0 { state.hasFailed = true }
                }
                pending.report(.revocationFailed(Redaction.redact(String(describing: error))))
                if error is TokenRevoker.Refusal { return false }
                if error is TokenRevoker.AccessTokenRejected { isRejected = true }
            }
            guard attempt < 6, (try? await time.sleep(until: time.uptime + wait)) != nil else { return false }
            wait = min(wait * 4, policy.maximumRetryAfter)
        }
        return false
    }
}
