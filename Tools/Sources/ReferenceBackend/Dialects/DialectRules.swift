/// The parts of the protocol that differ between dialects.
protocol DialectRules: Sendable {
    var refreshEndpoint: RequestPattern { get }

    var rotatesRefreshTokens: Bool { get }

    /// The status of the response to an expired access token.
    var expiredTokenStatus: Int { get }

    /// The refresh token in a request to a session endpoint.
    func presentedRefreshToken(in scope: RequestScope) async throws -> String?

    /// A resource's response to a successful request.
    func success(_ value: JSONValue, status: Int, scope: RequestScope) -> Reply

    /// The response for an error.
    func failure(_ error: APIError, scope: RequestScope) -> Reply

    /// The response that contains a session.
    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply

    func signedOut(scope: RequestScope) -> Reply
}

/// The reason why a session is returned.
enum SessionEvent: Sendable {
    case registered
    case signedIn
    case refreshed

    var status: Int { self == .registered ? 201 : 200 }
}

extension DialectRules {
    var rotatesRefreshTokens: Bool { true }
    var expiredTokenStatus: Int { 401 }

    func presentedRefreshToken(in scope: RequestScope) async throws -> String? {
        try await scope.json()["refreshToken"]?.stringValue
    }

    func success(_ value: JSONValue, status: Int, scope: RequestScope) -> Reply {
        status == 204 ? .empty() : .json(value, status: status)
    }

    func failure(_ error: APIError, scope: RequestScope) -> Reply {
        let body: JSONValue = [
            "code": .string(error.code), "message": .string(error.message), "errors": error.fieldList,
            "requestId": .string(scope.id),
        ]
        return .json(body, status: error.status).with(error.challengeFields())
    }

    func signedOut(scope: RequestScope) -> Reply {
        .empty()
    }
}

extension APIError {
    var fieldList: JSONValue {
        .array(fields.map { ["field": .string($0.name), "message": .string($0.message)] })
    }
}

extension Dialect {
    func rules(isTLS: Bool) -> any DialectRules {
        switch self {
        case .envelope: EnvelopeRules()
        case .oauth2: OAuth2Rules()
        case .header: HeaderRules()
        case .legacy419: Legacy419Rules()
        case .reissue: ReissueRules()
        case .cookie: CookieRules(isSecure: isTLS)
        }
    }
}
