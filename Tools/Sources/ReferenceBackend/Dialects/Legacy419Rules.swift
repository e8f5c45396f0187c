/// Expired is 419, and a refresh replaces the access token only.
struct Legacy419Rules: DialectRules {
    let refreshEndpoint: RequestPattern = "POST /auth/refresh"
    let rotatesRefreshTokens = false
    let expiredTokenStatus = 419

    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply {
        var answer: JSONValue = ["token": .string(grant.accessToken)]
        if event != .refreshed {
            answer.set("refreshToken", grant.refreshToken.map(JSONValue.string))
            answer.set("user", user)
        }
        return .json(answer, status: event.status)
    }
}
