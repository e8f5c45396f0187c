import HTTPTypes

/// The refresh token is in an HttpOnly cookie, never in a body.
struct CookieRules: DialectRules {
    static let cookieName = "refresh_token"

    let isSecure: Bool
    let refreshEndpoint: RequestPattern = "POST /auth/refresh"

    func presentedRefreshToken(in scope: RequestScope) async throws -> String? {
        scope.cookie(Self.cookieName)
    }

    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply {
        var response: JSONValue = ["accessToken": .string(grant.accessToken)]
        response.set("expiresIn", grant.expiresIn)
        if event != .refreshed { response.set("user", user) }
        let reply = Reply.json(response, status: event.status)
        guard let token = grant.refreshToken else { return reply }
        return reply.with(.setCookie, cookie(token, expires: grant.refreshTokenExpiresAt))
    }

    func signedOut(scope: RequestScope) -> Reply {
        Reply.empty().with(.setCookie, cookie("", expires: Timestamp(milliseconds: 0)))
    }

    private func cookie(_ value: String, expires: Timestamp) -> String {
        let attributes = "HttpOnly; SameSite=Strict; Path=/auth; Expires=\(expires.httpDate)"
        return "\(Self.cookieName)=\(value); \(attributes)\(isSecure ? "; Secure" : "")"
    }
}
