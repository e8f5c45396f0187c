import HTTPTypes

/// The refresh token travels in a header field of a GET.
struct HeaderRules: DialectRules {
    let refreshEndpoint: RequestPattern = "GET /auth/refresh"

    func presentedRefreshToken(in scope: RequestScope) async throws -> String? {
        if let token = scope.headers[.refreshToken] { return token }
        return try await scope.json()["refreshToken"]?.stringValue
    }

    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply {
        var answer: JSONValue = ["accessToken": .string(grant.accessToken)]
        answer.set("refreshToken", grant.refreshToken.map(JSONValue.string))
        if event != .refreshed { answer.set("user", user) }
        return .json(answer, status: event.status)
    }
}
