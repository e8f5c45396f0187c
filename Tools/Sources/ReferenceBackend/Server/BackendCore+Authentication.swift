import HTTPTypes

extension BackendCore {
    /// The access token of a request; `nil` if the field is missing or has another scheme.
    func presentedAccessToken(in scope: RequestScope) -> String? {
        let header = configuration.accessTokenHeader
        guard let name = HTTPField.Name(header.name), let value = scope.headers[name] else { return nil }
        guard let scheme = header.scheme else { return value }
        let halves = value.split(separator: " ", maxSplits: 1)
        guard halves.count == 2, halves[0].lowercased() == scheme.lowercased() else { return nil }
        return halves[1].trimmingBlanks
    }

    /// Returns the signed-in user. Throws if there is no valid access token.
    func authenticate(_ scope: RequestScope) async throws -> (user: UserRecord, identity: AccessIdentity) {
        guard let token = presentedAccessToken(in: scope) else {
            if carriesAccessTokenField(scope) { throw rejected(.invalidToken) }
            throw rejected(.missingToken)
        }
        state.sawAccessToken(token)
        switch try await sessions.accessTokens.inspect(token) {
        case .valid(let identity):
            guard let user = try await store.user(id: identity.userID) else { throw rejected(.invalidToken) }
            return (user, identity)
        case .expired:
            throw rejected(.expiredToken(status: rules.expiredTokenStatus))
        case .refused, .invalid:
            throw rejected(.invalidToken)
        }
    }

    /// Returns the signed-in user, or `nil` if the request carries no access token field. Throws if the token is
    /// invalid.
    func authenticateIfPresent(_ scope: RequestScope) async throws -> UserRecord? {
        guard carriesAccessTokenField(scope) else { return nil }
        return try await authenticate(scope).user
    }

    func carriesAccessTokenField(_ scope: RequestScope) -> Bool {
        HTTPField.Name(configuration.accessTokenHeader.name).map { scope.headers.contains($0) } ?? false
    }

    private func rejected(_ error: APIError) -> APIError {
        state.count { $0.unauthorized += 1 }
        return error
    }
}
