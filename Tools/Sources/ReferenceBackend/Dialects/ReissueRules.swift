/// `POST /auth/reissue`. Session responses are in a `result` member.
struct ReissueRules: DialectRules {
    let refreshEndpoint: RequestPattern = "POST /auth/reissue"

    func session(_ grant: SessionGrant, _ event: SessionEvent, user: JSONValue, scope: RequestScope) -> Reply {
        var result: JSONValue = ["accessToken": .string(grant.accessToken)]
        result.set("refreshToken", grant.refreshToken.map(JSONValue.string))
        if event != .refreshed { result.set("user", user) }
        return .json(["result": result], status: event.status)
    }
}
