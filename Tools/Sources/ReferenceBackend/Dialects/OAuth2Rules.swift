import HTTPTypes

/// OAuth 2.0 (RFC 6749) with bearer tokens (RFC 6750) and problem details (RFC 9457).
struct OAuth2Rules: DialectRules {
    static let grantedScope = "read write"

    let refreshEndpoint: RequestPattern = "POST /oauth/token"

    func presentedRefreshToken(in scope: RequestScope) async throws -> String? {
        let fields = try await scope.fields()
        return fields["refreshToken"] ?? fields["refresh_token"]
    }

    func failure(_ error: APIError, scope: RequestScope) -> Reply {
        let problem: JSONValue = [
            "type": .string("urn:martlet:problem:\(error.code.lowercased().replacing("_", with: "-"))"),
            "title": .string(error.title), "status": .integer(error.status), "detail": .string(error.message),
            "instance": .string(scope.path), "code": .string(error.code), "errors": error.fieldList,
            "requestId": .string(scope.id),
        ]
        return Reply.json(problem, status: error.status, contentType: "application/problem+json")
            .with(error.challengeFields(naming: true))
    }

    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply {
        var response = tokenResponse(grant, scope: Self.grantedScope)
        if event != .refreshed { response.set("user", user) }
        return noStore(.json(response, status: event.status))
    }

    /// The token response of RFC 6749 section 5.1.
    func tokenResponse(_ grant: SessionGrant, scope: String) -> JSONValue {
        var response: JSONValue = [
            "access_token": .string(grant.accessToken), "token_type": "Bearer", "scope": .string(scope),
        ]
        response.set("refresh_token", grant.refreshToken.map(JSONValue.string))
        response.set("expires_in", grant.expiresIn)
        return response
    }

    func noStore(_ reply: Reply) -> Reply {
        reply.with(.cacheControl, "no-store").with(.pragma, "no-cache")
    }
}

extension APIError {
    /// The title of RFC 9457, which is the same for every problem of one type.
    fileprivate var title: String {
        let words = code.lowercased().replacing("_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
