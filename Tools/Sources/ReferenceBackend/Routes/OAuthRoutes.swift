extension BackendCore {
    func addOAuthRoutes(to table: inout RouteTable) {
        table.add("POST", "/oauth/token") { scope in
            try await respondingToOAuthErrors { try await issueToken(scope) }
        }
        table.add("POST", "/oauth/revoke") { scope in
            try await respondingToOAuthErrors { try await revokeToken(scope) }
        }
    }

    private func issueToken(_ scope: RequestScope) async throws -> Reply {
        let fields = try await oauthFields(scope)
        let grantType = fields["grant_type"]
        // Every arrival at this endpoint was counted as a refresh, because the grant type was not known.
        if grantType != "refresh_token", configuration.dialect == .oauth2 { state.count { $0.refreshesCalled -= 1 } }
        try authenticateClient(scope, fields)
        if grantType == "authorization_code", let openID { return try await exchangeCode(fields, openID) }
        let granted = try grantedScope(fields)
        let grant =
            switch grantType {
            case "password": try await passwordGrant(fields)
            case "refresh_token": try await refreshGrant(fields)
            case nil: throw OAuthError.invalidRequest("grant_type is missing.")
            default: throw OAuthError.unsupportedGrantType
            }
        let rules = OAuth2Rules()
        return rules.noStore(.json(rules.tokenResponse(grant, scope: granted)))
    }

    private func passwordGrant(_ fields: FormFields) async throws -> SessionGrant {
        guard let username = fields["username"], let password = fields["password"] else {
            throw OAuthError.invalidRequest("username or password is missing.")
        }
        guard let user = try? await verifiedUser(email: username, password: password) else {
            throw OAuthError.invalidGrant("The user name or the password is wrong.")
        }
        return try await sessions.open(for: user)
    }

    private func refreshGrant(_ fields: FormFields) async throws -> SessionGrant {
        guard let token = fields["refresh_token"] else {
            throw OAuthError.invalidRequest("refresh_token is missing.")
        }
        do {
            return try await sessions.refresh(token, rotates: true)
        } catch is APIError {
            throw OAuthError.invalidGrant("The refresh token is not valid.")
        }
    }

    /// Revokes the session of a token. The response is the same for an unknown token (RFC 7009).
    private func revokeToken(_ scope: RequestScope) async throws -> Reply {
        let fields = try await oauthFields(scope)
        try authenticateClient(scope, fields)
        guard let token = fields["token"] else { throw OAuthError.invalidRequest("token is missing.") }
        var family = try await sessions.family(ofRefreshToken: token)
        if family == nil { family = try await sessions.accessTokens.inspect(token).identity?.familyID }
        if let family { try await sessions.revoke(.family(family), refusingAccess: true) }
        return OAuth2Rules().noStore(.empty(200))
    }

    private func oauthFields(_ scope: RequestScope) async throws -> FormFields {
        let fields: FormFields
        do {
            fields = try await scope.fields()
        } catch let error as APIError {
            throw OAuthError.invalidRequest(error.message)
        }
        if let name = fields.repeatedName { throw OAuthError.invalidRequest("\(name) occurs more than once.") }
        return fields
    }

    private func grantedScope(_ fields: FormFields) throws -> String {
        guard let requested = fields["scope"], !requested.isEmpty else { return OAuth2Rules.grantedScope }
        let known = Set(OAuth2Rules.grantedScope.split(separator: " "))
        guard known.isSuperset(of: requested.split(separator: " ")) else { throw OAuthError.invalidScope }
        return requested
    }
}
