import Foundation

extension BackendCore {
    func addSessionRoutes(to table: inout RouteTable) {
        table.add("POST", "/auth/register", register)
        table.add("POST", "/auth/login", signIn)
        table.add("POST", "/auth/upgrade", upgrade)
        table.add("POST", "/auth/logout", signOut)
        // The OAuth 2.0 token endpoint supports other grants too and is added separately.
        if configuration.dialect != .oauth2, let method = rules.refreshEndpoint.method {
            table.add(method, rules.refreshEndpoint.path, refresh)
        }
    }

    func sessionReply(_ grant: SessionGrant, _ event: SessionEvent, _ scope: RequestScope) -> Reply {
        rules.session(grant, event, user: grant.user.json(baseURL: state.baseURL), scope: scope)
    }

    private func register(_ scope: RequestScope) async throws -> Reply {
        let form = try AccountForm(try await scope.json())
        guard try await store.user(email: form.email) == nil else {
            throw APIError.conflict("An account with this e-mail address exists already.")
        }
        let user = UserRecord(
            id: RandomBytes.identifier(), name: form.name ?? form.defaultName, isGuest: false, email: form.email,
            passwordHash: try await passwords.hash(form.password), imageKey: nil, createdAt: state.now)
        try await store.insertRefusingDuplicate(user)
        return sessionReply(try await sessions.open(for: user), .registered, scope)
    }

    private func signIn(_ scope: RequestScope) async throws -> Reply {
        let body = try await scope.json()
        guard let email = body["email"]?.stringValue, let password = body["password"]?.stringValue else {
            throw APIError.malformed("email or password is missing.")
        }
        let user = try await verifiedUser(email: email, password: password)
        return sessionReply(try await sessions.open(for: user), .signedIn, scope)
    }

    func verifiedUser(email: String, password: String) async throws -> UserRecord {
        let user = try await store.user(email: AccountForm.normalized(email))
        guard try await passwords.verify(password, against: user?.passwordHash), let user else {
            throw APIError.wrongCredentials
        }
        return user
    }

    private func upgrade(_ scope: RequestScope) async throws -> Reply {
        let (guest, identity) = try await authenticate(scope)
        let form = try AccountForm(try await scope.json())
        guard guest.isGuest else { throw APIError.conflict("This user already has an account.") }
        guard try await store.user(email: form.email) == nil else {
            throw APIError.conflict("An account with this e-mail address exists already.")
        }
        let hash = try await passwords.hash(form.password)
        let isUpgraded = try await refusingDuplicate {
            try await store.upgradeGuest(id: guest.id, email: form.email, passwordHash: hash, name: form.name)
        }
        guard isUpgraded, let user = try await store.user(id: guest.id) else {
            throw APIError.conflict("This user already has an account.")
        }
        // The guest's access token stays valid for requests in progress.
        try await sessions.revoke(.family(identity.familyID), refusingAccess: false)
        return sessionReply(try await sessions.open(for: user), .signedIn, scope)
    }

    private func signOut(_ scope: RequestScope) async throws -> Reply {
        var families: Set<String> = []
        let presented = try await rules.presentedRefreshToken(in: scope)
        if let presented, let family = try await sessions.family(ofRefreshToken: presented) { families.insert(family) }
        let accessToken = presentedAccessToken(in: scope)
        // An expired access token still identifies its session.
        if let accessToken, let identity = try await sessions.accessTokens.inspect(accessToken).identity {
            families.insert(identity.familyID)
        }
        guard presented != nil || accessToken != nil else { throw APIError.missingToken }
        for family in families { try await sessions.revoke(.family(family), refusingAccess: true) }
        return rules.signedOut(scope: scope)
    }

    private func refresh(_ scope: RequestScope) async throws -> Reply {
        guard let token = try await rules.presentedRefreshToken(in: scope) else {
            state.count { $0.refreshesRefused += 1 }
            throw APIError(status: 401, code: "REFRESH_TOKEN_MISSING", message: "The request has no refresh token.")
        }
        try await refuseForeignBearer(scope, refreshToken: token)
        let grant = try await sessions.refresh(token, rotates: rules.rotatesRefreshTokens)
        return sessionReply(grant, .refreshed, scope)
    }

    /// Rejects a refresh if its bearer token belongs to another session. An expired bearer token is accepted.
    private func refuseForeignBearer(_ scope: RequestScope, refreshToken: String) async throws {
        guard configuration.dialect == .header, let accessToken = presentedAccessToken(in: scope),
            let identity = try await sessions.accessTokens.inspect(accessToken).identity,
            let family = try await sessions.family(ofRefreshToken: refreshToken), identity.familyID != family
        else { return }
        state.count { $0.refreshesRefused += 1 }
        throw APIError.refreshRefused
    }
}
