public import HTTPTypes

/// Refreshes tokens over HTTP. The server's dialect is described by data or by a closure.
///
/// Most apps use a factory of ``TokenRefresher``:
///
/// ```swift
/// TokenManager(baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"))
/// ```
///
/// If the server uses other names or another rule for the end of a session, describe them with
/// ``init(path:query:method:placement:fields:accessTokenScheme:headers:sessionEnd:)``. If the request looks different,
/// write a closure. This server expects a bearer token in a `PATCH`, and wants to know the purpose:
///
/// ```swift
/// let refresher: HTTPTokenRefresher = .custom { tokens, client in
///     guard let refreshToken = tokens.refreshToken else { throw RefreshRejectedError() }
///     var headers: HTTPFields = [.contentType: "application/json"]
///     headers.setSensitive("Bearer \(refreshToken.reveal())", for: .authorization)
///     let body = Data(#"{"purpose":"renewal"}"#.utf8)
///     let response = try await client.send(.patch, "/sessions/current", headers: headers, body: body)
///     if response.status == 401 { throw RefreshRejectedError() }
///     guard StatusCodes.successful.contains(response.status) else {
///         throw RefreshError(.status(response.status), description: "the token endpoint responded with \(response)")
///     }
///     return try TokenFields.automatic.tokens(from: response)
/// }
/// ```
public struct HTTPTokenRefresher: TokenRefresher {
    private var fields: TokenFields
    private let exchange: @Sendable (Tokens, TokenEndpointClient, TokenFields) async throws -> Tokens

    init(
        fields: TokenFields,
        exchange: @escaping @Sendable (Tokens, TokenEndpointClient, TokenFields) async throws -> Tokens
    ) {
        self.fields = fields
        self.exchange = exchange
    }

    /// Describes the dialect of a token endpoint.
    /// - Parameters:
    ///   - path: The token endpoint: a path below the manager's base URL, or an absolute URL.
    ///   - query: The query items of the request.
    ///   - method: The method of the request.
    ///   - placement: The place of the refresh token in the request.
    ///   - fields: The names of the new tokens in the response.
    ///   - accessTokenScheme: The scheme by which the request also carries the old access token; `nil` to leave it out.
    ///     If both tokens would use the same header field, the field carries the refresh token.
    ///   - headers: Further header fields of the request, such as an API key.
    ///   - sessionEnd: The rule for responses that end the session.
    public init(
        path: String,
        query: Query = [:],
        method: HTTPRequest.Method = .post,
        placement: TokenPlacement,
        fields: TokenFields = .automatic,
        accessTokenScheme: AuthenticationScheme? = nil,
        headers: HTTPFields = [:],
        sessionEnd: SessionEndRule = .standard
    ) {
        let request = RefreshRequest(
            path: path, query: query, method: method, placement: placement, accessTokenScheme: accessTokenScheme,
            headers: headers, sessionEnd: sessionEnd)
        self.init(fields: fields) { tokens, client, fields in
            try await request.send(tokens, over: client, reading: fields)
        }
    }

    /// Returns the same dialect, which also keeps further fields of the token response (``Tokens/additionalFields``).
    ///
    /// ```swift
    /// TokenManager(
    ///     baseURL: "https://id.example.com", store: .inMemory, refresher: .oauth2().keeping("id_token"))
    /// ```
    /// - Parameter names: The names of the fields. A refresher made from a closure
    ///   (``TokenRefresher/custom(fields:_:)``) keeps only those in the response to a sign-in. For a refresh, its
    ///   closure must pass the names to ``TokenFields`` itself.
    public func keeping(_ names: String...) -> HTTPTokenRefresher {
        var refresher = self
        refresher.fields.additional += names
        return refresher
    }

    /// The cookie with the refresh token; `nil` if the token is not in a cookie.
    var refreshCookie: String? { fields.refreshCookie }

    /// Exchanges the refresh token for new tokens.
    public func refresh(_ tokens: Tokens, over client: TokenEndpointClient) async throws -> Tokens {
        try await exchange(tokens, client, fields)
    }

    /// Reads the tokens from the fields that the dialect names.
    public func tokens(inSignInResponse response: ServerResponse) throws -> Tokens {
        try fields.tokens(from: response)
    }
}

extension TokenRefresher where Self == HTTPTokenRefresher {
    /// POST with `{"refreshToken": "…"}`. The response contains both tokens, bare or in an object such as `data` or
    /// `result`, or only a new access token; the refresh token then stays the same.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - field: The name of the refresh token in the JSON object.
    ///   - sessionEnd: The rule for responses that end the session.
    public static func json(
        path: String, field: String = "refreshToken", sessionEnd: SessionEndRule = .standard
    ) -> HTTPTokenRefresher {
        HTTPTokenRefresher(path: path, placement: .json(field: field), sessionEnd: sessionEnd)
    }

    /// The OAuth 2.0 refresh grant (RFC 6749, section 6). By default only the error `invalid_grant` ends the session.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - client: The app's client registration, if the server requires client authentication.
    ///   - sendsJSON: Whether the parameters are a JSON object rather than a form, for servers that expect one.
    ///   - sessionEnd: The rule for responses that end the session.
    public static func oauth2(
        path: String = "/oauth/token", client: OAuthClient? = nil, sendsJSON: Bool = false,
        sessionEnd: SessionEndRule = .code("invalid_grant")
    ) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, placement: .oauth2(client, sendsJSON: sendsJSON), sessionEnd: sessionEnd)
    }

    /// POST without a body, with the refresh token as a bearer token (`Authorization: Bearer …`).
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - sessionEnd: The rule for responses that end the session.
    public static func bearer(path: String, sessionEnd: SessionEndRule = .standard) -> HTTPTokenRefresher {
        HTTPTokenRefresher(path: path, placement: .bearer, sessionEnd: sessionEnd)
    }

    /// GET with the refresh token in a header field and the old access token as a bearer token.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - header: The field that carries the refresh token; `nil` for `refresh-token`. If it is `Authorization`, it
    ///     carries the refresh token as a bearer token, and no access token.
    ///   - accessTokenScheme: The scheme by which the request carries the old access token; `nil` to leave it out.
    ///   - sessionEnd: The rule for responses that end the session.
    public static func header(
        path: String, header: HTTPField.Name? = nil, accessTokenScheme: AuthenticationScheme? = .bearer,
        sessionEnd: SessionEndRule = .standard
    ) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, method: .get, placement: .header(header ?? .refreshToken),
            accessTokenScheme: accessTokenScheme, sessionEnd: sessionEnd)
    }

    /// POST with the refresh token in a cookie, for servers that set it as an `HttpOnly` cookie. The session's record
    /// keeps the cookie, and only the token endpoint receives it.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - cookie: The name of the cookie.
    ///   - sessionEnd: The rule for responses that end the session.
    public static func cookie(
        path: String, cookie: String = "refresh_token", sessionEnd: SessionEndRule = .standard
    ) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, placement: .cookie(name: cookie), fields: TokenFields(refreshToken: [], refreshCookie: cookie),
            sessionEnd: sessionEnd)
    }

    /// A dialect written as a closure; ``HTTPTokenRefresher`` shows one.
    /// - Parameters:
    ///   - fields: The names of the tokens in the response to a sign-in.
    ///   - exchange: Exchanges the refresh token for new tokens; see ``TokenRefresher/refresh(_:over:)``.
    public static func custom(
        fields: TokenFields = .automatic,
        _ exchange: @escaping @Sendable (Tokens, TokenEndpointClient) async throws -> Tokens
    ) -> HTTPTokenRefresher {
        HTTPTokenRefresher(fields: fields) { tokens, client, _ in try await exchange(tokens, client) }
    }
}

extension HTTPField.Name {
    /// `refresh-token`, in which some servers expect the refresh token. It is not a standard field.
    ///
    /// The fallback is never used, because the name is valid.
    static let refreshToken = HTTPField.Name("refresh-token") ?? .authorization
}
