public import HTTPTypes

/// Decides which responses reject the access token, so that the manager refreshes it and the request is replayed.
///
/// ```swift
/// AccessTokenRejectionRule.status(419)                  // used by some frameworks for an expired session
/// AccessTokenRejectionRule { $0.status == 200 && $0.body.range(of: marker) != nil }
/// ```
///
/// If an endpoint responds with 401 for a reason other than the token, examine the request too. Here, a wrong current
/// password is an error of its call and does not reject the token:
///
/// ```swift
/// AccessTokenRejectionRule { response, request in
///     response.status == 401 && request.path != "/v1/me/password"
/// }
/// ```
public struct AccessTokenRejectionRule: Sendable {
    private let matches: @Sendable (ServerResponse, HTTPRequest) -> Bool

    /// A rule made from a closure. For the rule, the response to a download or a stream has no body if its status is
    /// acceptable: the body is still on its way. The manager also applies it to the responses that a ``TokenRevoker`` gets, unless
    /// that is a ``TokenRevoker/custom(_:)``: a revocation whose access token was rejected is repeated without that
    /// token.
    /// - Parameter matches: Whether a response rejects the token. A client calls it with the server's response to each
    ///   attempt, even to one without a token. The result counts only if the request carried a token, or carried none
    ///   because the session had expired.
    public init(_ matches: @escaping @Sendable (ServerResponse) -> Bool) {
        self.matches = { response, _ in matches(response) }
    }

    /// A rule made from a closure that also sees the request.
    /// - Parameter matches: Whether a response rejects the token of its request. A client calls it with the server's
    ///   response to each attempt, even to one without a token, and with the prepared request: without the token,
    ///   without what ``RequestInterceptor/adapt(_:for:)`` has changed, and before any redirect. The result counts only
    ///   if the request carried a token, or carried none because the session had expired. The request's path includes
    ///   the path of the base URL.
    public init(_ matches: @escaping @Sendable (ServerResponse, HTTPRequest) -> Bool) {
        self.matches = matches
    }

    /// Responses with one of these statuses.
    public static func status(_ codes: Int...) -> AccessTokenRejectionRule {
        AccessTokenRejectionRule { codes.contains($0.status) }
    }

    /// 401 (RFC 9110, section 15.5.2; RFC 6750, section 3.1).
    public static let unauthorized = AccessTokenRejectionRule.status(401)

    /// A 401, or a GraphQL response of any status that contains an error with the code `UNAUTHENTICATED`.
    public static let graphQL = AccessTokenRejectionRule { response in
        if response.status == 401 { return true }
        guard let json = JSONValue(body: response.body), let errors = json["errors"]?.array else { return false }
        return errors.contains { $0["extensions"]?["code"]?.string == "UNAUTHENTICATED" }
    }

    /// A rule that matches if this one or the other one does.
    public func or(_ other: AccessTokenRejectionRule) -> AccessTokenRejectionRule {
        AccessTokenRejectionRule { self.isRejected($0, to: $1) || other.isRejected($0, to: $1) }
    }

    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request, without its token.
    func isRejected(_ response: ServerResponse, to request: HTTPRequest) -> Bool {
        matches(response, request)
    }
}
