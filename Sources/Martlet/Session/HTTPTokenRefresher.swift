public import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Refreshes over HTTP. What differs from server to server is data: how the refresh token travels, where the answer
/// keeps the new ones, and which answers are final.
///
/// ```swift
/// TokenManager(baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"))
/// ```
public struct HTTPTokenRefresher: TokenRefresher {
    /// How the refresh token travels.
    public enum Carrier: Sendable, Hashable {
        /// In a JSON object, under this name.
        case json(field: String)
        /// As an OAuth 2.0 grant (RFC 6749, section 6).
        case oauth2(OAuthClient?, encoding: OAuthEncoding)
        /// In a header field.
        case header(HTTPField.Name)
        /// In a cookie.
        case cookie(name: String)
    }

    /// Where the token endpoint is, below the base URL or as an absolute URL.
    public var path: String
    /// The method; POST but where a dialect says otherwise.
    public var method: HTTPRequest.Method
    /// How the refresh token travels.
    public var carrier: Carrier
    /// Where the answer keeps the new tokens.
    public var fields: TokenFields
    /// How the old access token goes along; `nil` where it does not.
    public var accessTokenScheme: AuthenticationScheme?
    /// Statuses that end the session.
    public var finalStatuses: StatusCodes
    /// Error codes that end the session, in an answer of status 400 or 401 with JSON in it.
    public var finalCodes: Set<String>

    /// A dialect of its own.
    public init(
        path: String,
        method: HTTPRequest.Method = .post,
        carrier: Carrier,
        fields: TokenFields = .automatic,
        accessTokenScheme: AuthenticationScheme? = nil,
        finalStatuses: StatusCodes = [401],
        finalCodes: Set<String> = ["invalid_grant", "invalid_token"]
    ) {
        self.path = path
        self.method = method
        self.carrier = carrier
        self.fields = fields
        self.accessTokenScheme = accessTokenScheme
        self.finalStatuses = finalStatuses
        self.finalCodes = finalCodes
    }

    /// Sends the refresh token to the token endpoint and reads the answer.
    public func refresh(_ bundle: TokenBundle, over lane: TokenLane) async throws -> RefreshedTokens {
        guard let refreshToken = bundle.refreshToken else { throw RefreshRejection() }
        var headers = HTTPFields()
        var body: Data?
        accessTokenScheme?.sign(&headers, with: bundle.accessToken)
        switch carrier {
        case .json(let field):
            headers[.contentType] = "application/json"
            body = try JSONEncoder().encode([field: refreshToken.reveal()])
        case .oauth2(let client, let encoding):
            var parameters: Query = ["grant_type": "refresh_token", "refresh_token": refreshToken.reveal()]
            client?.authenticate(&headers, &parameters)
            body = try encoding.encode(parameters, contentType: &headers[.contentType])
        case .header(let name):
            headers.setSensitive(refreshToken.reveal(), for: name)
        case .cookie(let name):
            headers.setSensitive("\(name)=\(refreshToken.reveal())", for: .cookie)
        }
        let answer = try await lane.send(method, path, headers: headers, body: body)
        let serverDate = answer.headers[.date].flatMap(HTTPDate.parse)
        guard StatusCodes.successful.contains(answer.status) else { throw failure(of: answer, now: lane.now) }
        do {
            return RefreshedTokens(try fields.bundle(from: answer), serverDate: serverDate)
        } catch {
            // A captive portal answers 200 with its own page.
            throw RefreshFailure(.unreadableAnswer, description: "\(error)")
        }
    }

    /// Reads the tokens by the dialect's own fields.
    public func tokens(inSignInAnswer answer: ServerAnswer) throws -> TokenBundle {
        try fields.bundle(from: answer)
    }

    private func failure(of answer: ServerAnswer, now: Date) -> any Error {
        let json = JSONValue(body: answer.body)
        let code = json?["error"]?.string ?? json?["code"]?.string
        if let code, finalCodes.contains(code), answer.status == 400 || answer.status == 401 {
            return RefreshRejection(code: code)
        }
        if finalStatuses.contains(answer.status) { return RefreshRejection(code: code) }
        let isRedirect = (300..<400).contains(answer.status)
        return RefreshFailure(
            isRedirect ? .unreadableAnswer : .status(answer.status),
            retryAfter: RetryAfter.parse(answer.headers[.retryAfter], now: now),
            description: "the token endpoint answered \(answer)")
    }
}

extension TokenRefresher where Self == HTTPTokenRefresher {
    /// POST with `{"refreshToken": "…"}`; the answer has both tokens, in an envelope or bare. A 401 is final.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - field: The member of the JSON object that has the refresh token.
    public static func json(path: String, field: String = "refreshToken") -> HTTPTokenRefresher {
        HTTPTokenRefresher(path: path, carrier: .json(field: field))
    }

    /// The OAuth 2.0 refresh grant (RFC 6749, section 6). Only the error `invalid_grant` is final.
    /// - Parameters:
    ///   - path: The token endpoint.
    ///   - client: Who the app is, where the server asks for it.
    ///   - encoding: A form, as the RFC wants it, or JSON, as some servers do.
    public static func oauth2(
        path: String = "/oauth/token", client: OAuthClient? = nil, encoding: OAuthEncoding = .form
    ) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, carrier: .oauth2(client, encoding: encoding), finalStatuses: [], finalCodes: ["invalid_grant"])
    }

    /// GET with the refresh token in a header field, besides the old access token as a bearer. A 401 is final.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - header: The field that has the refresh token.
    ///   - accessTokenScheme: How the old access token goes along; it does not if `nil`.
    public static func header(
        path: String, header: HTTPField.Name = .refreshToken, accessTokenScheme: AuthenticationScheme? = .bearer
    ) -> HTTPTokenRefresher {
        HTTPTokenRefresher(path: path, method: .get, carrier: .header(header), accessTokenScheme: accessTokenScheme)
    }

    /// POST with `{"refreshToken": "…"}`; the answer has a new access token only (`{"token": "…"}`), and the refresh
    /// token stays. A 401 is final.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - field: The member of the JSON object that has the refresh token.
    public static func accessTokenOnly(path: String, field: String = "refreshToken") -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, carrier: .json(field: field),
            fields: TokenFields(accessToken: ["token", "accessToken", "access_token"]))
    }

    /// POST with `{"refreshToken": "…"}`; the answer has both tokens within `result`. A 401 is final.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - field: The member of the JSON object that has the refresh token.
    public static func reissue(path: String, field: String = "refreshToken") -> HTTPTokenRefresher {
        HTTPTokenRefresher(path: path, carrier: .json(field: field), fields: TokenFields(containers: ["result", ""]))
    }

    /// POST with the refresh token in a cookie, for servers that hand it out as `HttpOnly`. The cookie is kept in the
    /// session's record and sent to the token endpoint alone. A 401 is final.
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - cookie: The name of the cookie.
    public static func cookie(path: String, cookie: String = "refresh_token") -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, carrier: .cookie(name: cookie), fields: TokenFields(refreshToken: [], refreshCookie: cookie))
    }
}

extension HTTPField.Name {
    /// `refresh-token`: carries the refresh token of servers that take it in a header field.
    public static let refreshToken = HTTPField.Name("refresh-token") ?? .authorization
}
