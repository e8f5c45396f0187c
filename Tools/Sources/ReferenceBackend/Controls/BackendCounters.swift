/// What a backend has counted since it started or since the last reset.
public struct BackendCounters: Sendable, Hashable, Codable {
    /// Requests that arrived, by method and route, as in `GET /articles/{id}`.
    public var requests: [String: Int] = [:]
    /// Answers by status.
    public var statuses: [Int: Int] = [:]
    /// Answers by method and route, then by status.
    public var statusesByRoute: [String: [Int: Int]] = [:]
    /// Refreshes that arrived, also those that a fault answered.
    public var refreshesCalled = 0
    /// Refreshes that were granted.
    public var refreshesSucceeded = 0
    /// Refreshes that were refused because of the token.
    public var refreshesRefused = 0
    /// Refreshes with a spent token that got the same pair again within the grace.
    public var refreshesRepeated = 0
    /// Spent refresh tokens that came back outside the grace.
    public var reuseDetected = 0
    /// Sessions ended by sign-out, reuse or control.
    public var revocations = 0
    /// Resource requests refused for want of a good access token.
    public var unauthorized = 0
    /// Guests registered.
    public var guestRegistrations = 0
    /// Requests that a fault changed.
    public var faultsApplied = 0
    /// Different access tokens seen on resources.
    public var distinctAccessTokens = 0
    /// TCP connections accepted.
    public var connectionsAccepted = 0
    /// TCP connections open now; a reset leaves it as it is.
    public var connectionsOpen = 0

    /// Zero everywhere.
    public init() {}

    /// The requests that arrived for one route, as in `counters["GET /me"]`.
    public subscript(route: String) -> Int { requests[route] ?? 0 }

    /// The answers of one status for one route.
    public func answers(_ status: Int, for route: String) -> Int { statusesByRoute[route]?[status] ?? 0 }

    mutating func answered(_ status: Int, route: String) {
        statuses[status, default: 0] += 1
        statusesByRoute[route, default: [:]][status, default: 0] += 1
    }
}
