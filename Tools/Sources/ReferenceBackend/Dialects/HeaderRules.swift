import HTTPTypes

/// The refresh token is in a header field of a GET request.
struct HeaderRules: DialectRules {
    let refreshEndpoint: RequestPattern = "GET /auth/refresh"

    func presentedRefreshToken(in scope: RequestScope) async throws -> String? {
        if let token = scope.headers[.refreshToken] { return token }
        return try await scope.json()["refreshToken"]?.stringValue
    }

    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply {
        var response: JSONValue = ["accessToken": .string(grant.accessToken)]
        response.set("refreshToken", grant.refreshToken.map(JSONValue.string))
        if event != .refreshed { response.set("user", user) }
        return .json(response, status: event.status)
    }
}
