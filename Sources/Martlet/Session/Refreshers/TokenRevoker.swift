internal import HTTPTypes

/// Revokes tokens at the server: those of a session after its sign-out, and those of a sign-in without effect.
///
/// Tokens are not revoked if the server has issued the same ones for the current session.
///
/// ```swift
/// TokenManager(
///     baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
///     revoker: .json(path: "/auth/logout"))
/// ```
public struct TokenRevoker: Sendable {
    /// The circumstances of one attempt.
    private struct Attempt: Sendable {
        /// Whether the access token may authorize the request. A strict server rejects one that has expired.
        let sendsAccessToken: Bool
        let rejection: AccessTokenRejectionRule
        let client: TokenEndpointClient
    }

    private let perform: @Sendable (Tokens, Attempt) async throws -> Void

    private init(_ perform: @escaping @Sendable (Tokens, Attempt) async throws -> Void) {
        self.perform = perform
    }

    /// Describes the revocation endpoint of a server. A 404 counts as success: there is nothing left to revoke.
    /// - Parameters:
    ///   - path: The endpoint: a path below the manager's base URL, or an absolute URL.
    ///   - placement: The part of the request that carries the refresh token. ``TokenPlacement/oauth2(_:sendsJSON:)``
    ///     sends the access token instead if there is no refresh token.
    ///   - accessTokenScheme: The scheme by which the request carries the access token, unless it has expired or the
    ///     server has rejected it; not used with ``TokenPlacement/oauth2(_:sendsJSON:)`` and ``TokenPlacement/bearer``.
    public init(path: String, placement: TokenPlacement, accessTokenScheme: AuthenticationScheme = .bearer) {
        self.init { tokens, attempt in
            var headers = HTTPFields()
            let isAuthorized =
                switch placement {
                case .oauth2, .bearer: false
                case .json, .header, .cookie: attempt.sendsAccessToken
                }
            if isAuthorized { accessTokenScheme.attach(tokens.accessToken, to: &headers) }
            let parameters: Query = [
                "token": (tokens.refreshToken ?? tokens.accessToken).reveal(),
                "token_type_hint": tokens.refreshToken != nil ? "refresh_token" : "access_token",
            ]
            let body = try placement.place(tokens.refreshToken, parameters: parameters, headers: &headers)
            let response = try await attempt.client.send(.post, path, headers: headers, body: body)
            let error = RefreshError(
                .status(response.status), description: "the revocation endpoint responded with \(response)")
            let request = try attempt.client.request(.post, path)
            if response.status == 401 || attempt.rejection.isRejected(response, to: request) {
                // Without the access token, the server has rejected the refresh token.
                throw isAuthorized ? AccessTokenRejected(error: error) : Refusal(error)
            }
            if StatusCodes.successful.contains(response.status) || response.status == 404 { return }
            throw [400, 403].contains(response.status) ? Refusal(error) : error
        }
    }

    /// The server refused the token or the client, and would refuse the same request again (RFC 7009, section 2.2.1).
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String

        init(_ error: RefreshError) { description = "\(error)" }

        package init(_ description: String) { self.description = description }
    }

    /// The server rejected the access token. The next attempt omits it.
    struct AccessTokenRejected: Error, CustomStringConvertible {
        let error: RefreshError
        var description: String { "\(error)" }
    }

    /// Revokes the tokens.
    /// - Parameters:
    ///   - tokens: The tokens of a session that has ended.
    ///   - sendsAccessToken: Whether the access token may authorize the request. A strict server rejects one that has
    ///     expired.
    ///   - rejection: The rule for responses that reject the access token, besides a 401.
    ///   - client: Sends the request.
    /// - Throws: Any error if the server did not accept the revocation; the manager retries a few times, unless the
    ///   error is a ``Refusal``.
    package func revoke(
        _ tokens: Tokens, sendingAccessToken sendsAccessToken: Bool,
        rejectedBy rejection: AccessTokenRejectionRule = .unauthorized, over client: TokenEndpointClient
    ) async throws {
        try await perform(tokens, Attempt(sendsAccessToken: sendsAccessToken, rejection: rejection, client: client))
    }

    /// POST with a form as RFC 7009 defines it.
    /// - Parameters:
    ///   - path: The revocation endpoint, below the manager's base URL.
    ///   - client: The app's client registration, if the server requires client authentication.
    public static func oauth2(path: String = "/oauth/revoke", client: OAuthClient? = nil) -> TokenRevoker {
        TokenRevoker(path: path, placement: .oauth2(client))
    }

    /// POST with the access token as a bearer token and the refresh token in a JSON object.
    /// - Parameters:
    ///   - path: The endpoint, below the manager's base URL.
    ///   - field: The name of the refresh token in the JSON object.
    public static func json(path: String, field: String = "refreshToken") -> TokenRevoker {
        TokenRevoker(path: path, placement: .json(field: field))
    }

    /// POST with the access token as a bearer token and the refresh token in a cookie.
    /// - Parameters:
    ///   - path: The endpoint, below the manager's base URL.
    ///   - cookie: The name of the cookie.
    public static func cookie(path: String, cookie: String = "refresh_token") -> TokenRevoker {
        TokenRevoker(path: path, placement: .cookie(name: cookie))
    }

    /// Revokes the tokens with a closure of your own.
    /// - Parameter perform: Sends the request. It throws if the server did not accept the revocation; the manager then
    ///   retries a few times.
    public static func custom(
        _ perform: @escaping @Sendable (Tokens, TokenEndpointClient) async throws -> Void
    ) -> TokenRevoker {
        TokenRevoker { tokens, attempt in try await perform(tokens, attempt.client) }
    }
}
