/// Injects faults into a running backend and reports what the backend has observed.
///
/// The same controls are available over HTTP under `/_control/` if ``BackendConfiguration/hostileControls`` is set.
public struct BackendControls: Sendable {
    let state: BackendState
    let store: Store
    let sessions: Sessions
    let faultQueue: FaultQueue
    let requestGates: RequestGates
    let arrivals: RequestLog
    let responses: RequestLog
    let hangs: HangingRequests

    /// Makes every access token issued so far count as expired.
    public func expireAccessTokens() async throws {
        try await store.setEpoch(state.beginEpoch())
    }

    /// Revokes the refresh tokens of one user, or of all users if `userID` is `nil`. Access tokens remain valid unless
    /// `includingAccessTokens` is set.
    public func revokeSessions(userID: String? = nil, includingAccessTokens: Bool = false) async throws {
        try await sessions.revoke(userID.map(RevocationScope.user) ?? .allUsers, refusingAccess: includingAccessTokens)
    }

    /// The current settings.
    public var settings: BackendSettings { state.settings }

    /// Changes settings in one step.
    public func update(_ change: (inout BackendSettings) throws -> Void) rethrows {
        try state.updateSettings(change)
    }

    /// Appends a fault rule. If several rules match a request, the first one applies.
    @discardableResult
    public func inject(_ rule: FaultRule) -> FaultID {
        faultQueue.add(rule)
    }

    /// Appends a fault rule made from its parts.
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

    /// Closes the connections of all hanging requests.
    public func releaseHangs() {
        hangs.releaseAll()
    }

    /// The number of requests that hang now.
    public var hangingCount: Int { hangs.count }

    /// Waits until `count` requests since the start have begun to hang. Throws `CancellationError` if cancelled.
    public func waitUntilHanging(_ count: Int = 1) async throws {
        try await hangs.waitUntilBegun(count)
    }

    /// Waits until `count` hanging requests since the start have ended. Throws `CancellationError` if cancelled.
    public func waitUntilHangsEnded(_ count: Int = 1) async throws {
        try await hangs.waitUntilEnded(count)
    }

    /// Holds matching requests until the returned gate is released.
    public func holdRequests(_ pattern: RequestPattern, at stage: RequestGate.Stage = .arrival) -> RequestGate {
        requestGates.add(pattern, at: stage)
    }

    /// Waits until `count` matching requests have arrived since the start or the last reset. Throws `CancellationError`
    /// if cancelled.
    public func waitUntil(_ pattern: RequestPattern, count: Int = 1) async throws {
        try await arrivals.wait(for: pattern, count: count)
    }

    /// Collects every token issued from now on in ``issuedTokens``. By default, no token is kept after its request.
    public func rememberIssuedTokens() {
        state.rememberIssuedTokens()
    }

    /// Every access and refresh token issued since ``rememberIssuedTokens()``.
    public var issuedTokens: Set<String> { state.issuedTokens }

    /// Waits until the responses to `count` matching requests have been sent. Throws `CancellationError` if cancelled.
    public func waitUntilResponded(_ pattern: RequestPattern, count: Int = 1) async throws {
        try await responses.wait(for: pattern, count: count)
    }

    /// The number of matching requests since the start or the last reset.
    public func arrivalCount(_ pattern: RequestPattern) -> Int {
        arrivals.count(pattern)
    }

    /// The counters since the start or the last reset.
    public var counters: BackendCounters { state.counters }

    /// Resets the counters and arrival counts to zero.
    public func resetCounters() {
        state.resetCounters()
        arrivals.reset()
        responses.reset()
    }
}
