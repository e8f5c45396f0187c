/// The status 419 means "expired", and a refresh replaces the access token only.
struct Legacy419Rules: DialectRules {
    let refreshEndpoint: RequestPattern = "POST /auth/refresh"
    let rotatesRefreshTokens = false
    let expiredTokenStatus = 419

    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply {
        var response: JSONValue = ["token": .string(grant.accessToken)]
        if event != .refreshed {
            response.set("refreshToken", grant.refreshToken.map(JSONValue.string))
            response.set("user", user)
        }
        return .json(response, status: event.status)
    }
}
