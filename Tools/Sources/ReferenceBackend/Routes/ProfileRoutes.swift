extension BackendCore {
    func addProfileRoutes(to table: inout RouteTable) {
        table.add("GET", "/me", profile)
        table.add("GET", "/feed", feed)
        table.add("GET", "/public/ping", ping)
    }

    private func profile(_ scope: RequestScope) async throws -> Reply {
        let (user, _) = try await authenticate(scope)
        return rules.success(user.json(baseURL: state.baseURL), status: 200, scope: scope)
    }

    /// Returns articles with or without a session. An invalid token is rejected, so that the client learns that it has
    /// to refresh.
    private func feed(_ scope: RequestScope) async throws -> Reply {
        let viewer = try await authenticateIfPresent(scope)
        let page = try await store.articles(page: 1, size: 20, query: nil)
        let response: JSONValue = [
            "viewer": viewer?.json(baseURL: state.baseURL) ?? .null, "items": .array(page.items.map(\.json)),
        ]
        return rules.success(response, status: 200, scope: scope)
    }

    private func ping(_ scope: RequestScope) async throws -> Reply {
        var isValid = false
        if let token = presentedAccessToken(in: scope), case .valid = try await sessions.accessTokens.inspect(token) {
            isValid = true
        }
        let response: JSONValue = [
            "pong": true, "authorizationSeen": .bool(carriesAccessTokenField(scope)),
            "authorizationValid": .bool(isValid),
        ]
        return rules.success(response, status: 200, scope: scope)
    }
}
