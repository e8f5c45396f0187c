import Crypto
import HTTPTypes

/// The running provider of a backend.
struct RunningOpenIDProvider: Sendable {
    let settings: OpenIDProvider
    let keys: OpenIDKeys
    let codes = AuthorizationCodes()

    init(_ settings: OpenIDProvider) throws {
        self.settings = settings
        keys = try OpenIDKeys()
    }
}

extension BackendCore {
    func addOpenIDRoutes(of provider: RunningOpenIDProvider, to table: inout RouteTable) {
        table.add("GET", "/.well-known/openid-configuration") { _ in .json(metadata(of: provider)) }
        table.add("GET", "/oauth/keys") { _ in
            .json(try provider.keys.published(withSecond: provider.settings.module?.publishesSecondKey ?? false))
        }
        table.add("GET", "/oauth/authorize") { scope in
            try await respondingToOAuthErrors { try authorize(scope, provider) }
        }
        table.add("GET", "/oauth/userinfo") { scope in
            let user = try await authenticate(scope).user
            var claims: [String: JSONValue] = ["sub": .string(user.id), "name": .string(user.name)]
            claims["email"] = user.email.map(JSONValue.string)
            provider.settings.module?.userinfo(&claims)
            return .json(.object(claims))
        }
    }

    private func metadata(of provider: RunningOpenIDProvider) -> JSONValue {
        let issuer = state.baseURL
        var metadata: [String: JSONValue] = [
            "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/oauth/authorize"),
            "token_endpoint": .string(issuer + "/oauth/token"), "jwks_uri": .string(issuer + "/oauth/keys"),
            "userinfo_endpoint": .string(issuer + "/oauth/userinfo"),
            "revocation_endpoint": .string(issuer + "/oauth/revoke"), "response_types_supported": ["code"],
            "subject_types_supported": ["public"], "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "authorization_response_iss_parameter_supported": true,
        ]
        provider.settings.module?.metadata(&metadata)
        return .object(metadata)
    }

    /// Sends the browser back with a code (OpenID Connect Core 1.0, section 3.1.2.5).
    private func authorize(_ scope: RequestScope, _ provider: RunningOpenIDProvider) throws -> Reply {
        let query = scope.query
        guard query.repeatedName == nil, query["client_id"] == provider.settings.clientID,
            let redirect = query["redirect_uri"], query["response_type"] == "code",
            let challenge = query["code_challenge"], query["code_challenge_method"] == "S256"
        else { throw OAuthError.invalidRequest("The client, the redirect URI, the response type or PKCE is wrong.") }
        let request = AuthorizationCodes.Request(redirectURI: redirect, challenge: challenge, nonce: query["nonce"])
        var fields = [
            (name: "code", value: provider.codes.issue(for: request)), (name: "state", value: query["state"] ?? ""),
            (name: "iss", value: state.baseURL),
        ]
        provider.settings.module?.callback(&fields)
        let text = fields.map { "\($0.name)=\(FormFields.encode($0.value))" }.joined(separator: "&")
        return Reply.empty(302).with(.location, redirect + (redirect.contains("?") ? "&" : "?") + text)
    }

    /// Exchanges a code for the tokens of a new session (OpenID Connect Core 1.0, section 3.1.3.3).
    func exchangeCode(_ fields: FormFields, _ provider: RunningOpenIDProvider) async throws -> Reply {
        guard let code = fields["code"], let request = provider.codes.take(code),
            request.redirectURI == fields["redirect_uri"],
            request.challenge == Array(SHA256.hash(data: Array((fields["code_verifier"] ?? "").utf8))).base64URL
        else { throw OAuthError.invalidGrant("The code, its redirect URI or its verifier is wrong.") }
        let grant = try await sessions.open(for: try await openIDUser())
        let now = Int(state.now.milliseconds / 1000)
        var token = IDToken(
            issuedAt: now,
            claims: [
                "iss": .string(state.baseURL), "sub": .string(grant.user.id),
                "aud": .string(provider.settings.clientID), "iat": .integer(now), "exp": .integer(now + 300),
            ])
        token.claims["nonce"] = request.nonce.map(JSONValue.string)
        let hash = Array(SHA256.hash(data: Array(grant.accessToken.utf8)))
        token.claims["at_hash"] = .string(hash.prefix(16).base64URL)
        provider.settings.module?.idToken(&token)
        let rules = OAuth2Rules()
        var response = rules.tokenResponse(grant, scope: "openid")
        response.set("id_token", .string(try token.signed(with: provider.keys)))
        return rules.noStore(.json(response))
    }

    /// The one user of the provider.
    private func openIDUser() async throws -> UserRecord {
        let email = "ada@example.com"
        if let user = try await store.user(email: email) { return user }
        let user = UserRecord(
            id: RandomBytes.identifier(), name: "Ada", isGuest: false, email: email, passwordHash: nil, imageKey: nil,
            createdAt: state.now)
        try await store.insertRefusingDuplicate(user)
        return user
    }
}

extension FormFields {
    /// Percent-encodes a value of a query or form.
    static func encode(_ text: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        return text.utf8.map { plain.contains($0) ? String(UnicodeScalar($0)) : "%" + [$0].hexadecimal }.joined()
    }
}
