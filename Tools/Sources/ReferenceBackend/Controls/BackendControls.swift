/// Makes a running backend misbehave, and says what it has seen. What is here in Swift is there over HTTP under
/// `/_control/` as well, where the configuration allows it.
public struct BackendControls: Sendable {
    let state: BackendState
    let store: Store
    let sessions: Sessions
    let faultQueue: FaultQueue
    let gateKeeper: GateKeeper
    let arrivals: RequestLog
    let answers: RequestLog
    let hangs: HangingRequests

    /// Lets every access token issued until now count as expired.
    public func expireAccessTokens() async throws {
        try await store.setEpoch(state.beginEpoch())
    }

    /// Revokes every refresh token, of one user or of all. Access tokens live on unless `includingAccessTokens` is set.
    public func revokeSessions(userID: String? = nil, includingAccessTokens: Bool = false) async throws {
        try await sessions.revoke(userID.map(RevocationScope.user) ?? .everyone, refusingAccess: includingAccessTokens)
    }

    /// The settings in force.
    public var settings: BackendSettings { state.settings }

    /// Changes settings, all at once.
    public func update(_ change: (inout BackendSettings) throws -> Void) rethrows {
        try state.updateSettings(change)
    }

    /// Adds a rule behind those that are there; of several that match, the first acts.
    @discardableResult
    public func inject(_ rule: FaultRule) -> FaultID {
        faultQueue.add(rule)
    }

    /// Adds a rule from its parts.
    @discardableResult
    public func inject(
        _ pattern: RequestPattern, _ action: FaultRule.Action, times: Int? = 1, after: Int = 0,
        delay: Duration = .zero, readsBody: Bool = false
    ) -> FaultID {
        inject(FaultRule(pattern, action, times: times, after: after, delay: delay, readsBody: readsBody))
    }

    /// The rules that are not used up.
    public var faults: [FaultRule] { faultQueue.rules.map(\.rule) }

    /// Removes one rule.
    public func removeFault(_ id: FaultID) {
        faultQueue.remove(id)
    }

    /// Removes every rule.
    public func removeFaults() {
        faultQueue.removeAll()
    }

    /// Closes the connections of the requests that hang.
    public func releaseHangs() {
        hangs.releaseAll()
    }

    /// How many requests hang now.
    public var hangingCount: Int { hangs.count }

    /// Returns as soon as `count` requests have begun to hang since the start; throws when cancelled.
    public func waitUntilHanging(_ count: Int = 1) async throws {
        try await hangs.waitUntilBegun(count)
    }

    /// Returns as soon as `count` requests that hung have been given up since the start; throws when cancelled.
    public func waitUntilHangsEnded(_ count: Int = 1) async throws {
        try await hangs.waitUntilEnded(count)
    }

    /// Holds matching requests from now on until the gate is released.
    public func holdRequests(_ pattern: RequestPattern, at stage: RequestGate.Stage = .arrival) -> RequestGate {
        gateKeeper.add(pattern, at: stage)
    }

    /// Returns as soon as `count` matching requests have arrived since the start or the last reset, whatever becomes of
    /// them; throws when cancelled.
    public func waitUntil(_ pattern: RequestPattern, count: Int = 1) async throws {
        try await arrivals.wait(for: pattern, count: count)
    }

    /// Keeps every token that is issued from now on in ``issuedTokens``. Otherwise none outlives its request.
    public func rememberIssuedTokens() {
        state.rememberIssuedTokens()
    }

    /// Every access and refresh token that was issued since ``rememberIssuedTokens()``.
    public var issuedTokens: Set<String> { state.issuedTokens }

    /// Returns as soon as `count` matching requests have had their answers sent; throws when cancelled.
    public func waitUntilAnswered(_ pattern: RequestPattern, count: Int = 1) async throws {
        try await answers.wait(for: pattern, count: count)
    }

    /// How many matching requests have arrived since the start or the last reset.
    public func arrivalCount(_ pattern: RequestPattern) -> Int {
        arrivals.count(pattern)
    }

    /// What has been counted since the start or the last reset.
    public var counters: BackendCounters { state.counters }

    /// Sets counters and arrival counts to zero.
    public func resetCounters() {
        state.resetCounters()
        arrivals.reset()
        answers.reset()
    }
}
