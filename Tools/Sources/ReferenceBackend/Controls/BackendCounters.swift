/// Counters of a backend since its start or the last reset.
public struct BackendCounters: Sendable, Hashable, Codable {
    /// Requests by method and route, as in `GET /articles/{id}`.
    public var requests: [String: Int] = [:]
    /// Responses by status.
    public var statuses: [Int: Int] = [:]
    /// Responses by method and route, then by status.
    public var statusesByRoute: [String: [Int: Int]] = [:]
    /// Refresh requests, including those to which a fault responded.
    public var refreshesCalled = 0
    /// Granted refreshes.
    public var refreshesSucceeded = 0
    /// Refreshes that were rejected because of the token.
    public var refreshesRefused = 0
    /// Refreshes with a used refresh token that returned the same pair again within the grace period.
    public var refreshesRepeated = 0
    /// Used refresh tokens that were received after the grace period.
    public var reuseDetected = 0
    /// Sessions ended by a sign-out, token reuse or a control.
    public var revocations = 0
    /// Resource requests rejected because of a missing or invalid access token.
    public var unauthorized = 0
    /// Registered guests.
    public var guestRegistrations = 0
    /// Requests to which a fault was applied.
    public var faultsApplied = 0
    /// Distinct access tokens received on resources.
    public var distinctAccessTokens = 0
    /// Accepted TCP connections.
    public var connectionsAccepted = 0
    /// Open TCP connections. A reset does not change this counter.
    public var connectionsOpen = 0

    /// Creates counters that are all zero.
    public init() {}

    /// The number of requests for a route, as in `counters["GET /me"]`.
    public subscript(route: String) -> Int { requests[route] ?? 0 }

    /// The number of responses with a status for a route.
    public func responses(_ status: Int, for route: String) -> Int { statusesByRoute[route]?[status] ?? 0 }

    mutating func countResponse(_ status: Int, route: String) {
        statuses[status, default: 0] += 1
        statusesByRoute[route, default: [:]][status, default: 0] += 1
    }
}
