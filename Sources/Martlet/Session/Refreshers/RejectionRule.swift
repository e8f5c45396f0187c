/// Decides which responses reject the access token, so that the manager refreshes it and the request is replayed.
///
/// ```swift
/// RejectionRule.status(419)                  // used by some frameworks for an expired session
/// RejectionRule { $0.status == 200 && $0.body.range(of: marker) != nil }
/// ```
public struct RejectionRule: Sendable {
    private let matches: @Sendable (ServerResponse) -> Bool

    /// A rule made of a closure.
    /// - Parameter matches: Whether a response rejects the token. It is called with every response to a signed request.
    public init(_ matches: @escaping @Sendable (ServerResponse) -> Bool) {
        self.matches = matches
    }

    /// Responses with one of these statuses.
    public static func status(_ codes: Int...) -> RejectionRule {
        RejectionRule { codes.contains($0.status) }
    }

    /// 401 (RFC 9110, section 15.5.2; RFC 6750, section 3.1).
    public static let unauthorized = RejectionRule.status(401)

    /// A 401, or a GraphQL response of any status that contains an error with the code `UNAUTHENTICATED`.
    public static let graphQL = RejectionRule { response in
        if response.status == 401 { return true }
        guard let json = JSONValue(body: response.body), let errors = json["errors"]?.array else { return false }
        return errors.contains { $0["extensions"]?["code"]?.string == "UNAUTHENTICATED" }
    }

    /// A rule that matches if this one or the other one does.
    public func or(_ other: RejectionRule) -> RejectionRule {
        RejectionRule { self.isRejected($0) || other.isRejected($0) }
    }

    func isRejected(_ response: ServerResponse) -> Bool {
        matches(response)
    }
}
