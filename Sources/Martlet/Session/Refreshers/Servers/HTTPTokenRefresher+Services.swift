internal import HTTPTypes

// Presets for identity services. Each names the documentation that it follows.

extension TokenRefresher where Self == HTTPTokenRefresher {
    /// Supabase Auth: POST with `{"refresh_token": "…"}` and the project's key in `apikey`. The terminal codes are
    /// `refresh_token_not_found`, `refresh_token_already_used`, `session_not_found`, `session_expired`,
    /// `user_not_found`, `user_banned` and, from older servers, `invalid_grant`.
    ///
    /// Source: <https://supabase.com/docs/guides/auth/debugging/error-codes> and
    /// <https://supabase.com/docs/guides/auth/sessions>
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - apiKey: The project's publishable key, which is not a secret.
    public static func supabase(path: String = "/auth/v1/token", apiKey: String) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, query: ["grant_type": "refresh_token"], placement: .json(field: "refresh_token"),
            headers: [.apiKey: apiKey],
            sessionEnd: .code(
                "refresh_token_not_found", "refresh_token_already_used", "session_not_found", "session_expired",
                "user_not_found", "user_banned", "invalid_grant", status: 400, 401, 403, 404))
    }

    /// Firebase Authentication: the OAuth 2.0 refresh grant as a form, with the project's key in the query. The access
    /// token is the ID token. The terminal codes are `TOKEN_EXPIRED`, `USER_DISABLED`, `USER_NOT_FOUND` and
    /// `INVALID_REFRESH_TOKEN`.
    ///
    /// Source: <https://firebase.google.com/docs/reference/rest/auth#section-refresh-token>
    /// - Parameters:
    ///   - path: The token endpoint. The default is Firebase's own; the emulator has another one.
    ///   - apiKey: The project's web API key, which is not a secret.
    public static func firebase(
        path: String = "https://securetoken.googleapis.com/v1/token", apiKey: String
    ) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, query: ["key": apiKey], placement: .oauth2(nil),
            fields: TokenFields(accessToken: ["id_token", "idToken"]),
            sessionEnd: .code(
                "TOKEN_EXPIRED", "USER_DISABLED", "USER_NOT_FOUND", "INVALID_REFRESH_TOKEN", status: 400, 401, 403))
    }

    /// Auth0: the OAuth 2.0 refresh grant as a form. Only the code `invalid_grant` is terminal; Auth0 sends it with
    /// 403.
    ///
    /// Source: <https://auth0.com/docs/secure/tokens/refresh-tokens/use-refresh-tokens> and, for the 403,
    /// <https://community.auth0.com/t/troubleshoot-refresh-token-unknown-or-invalid-before-expiry-403-unknown-or-invalid-refresh-token/120406>
    /// - Parameters:
    ///   - path: The token endpoint, such as `https://example.auth0.com/oauth/token`.
    ///   - client: The app's client registration. If it has a secret, Auth0 expects it in the body.
    public static func auth0(path: String = "/oauth/token", client: OAuthClient) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, placement: .oauth2(client), sessionEnd: .code("invalid_grant", status: 400, 401, 403))
    }

    /// Keycloak: the OAuth 2.0 refresh grant as a form. Only the code `invalid_grant` is terminal.
    ///
    /// Source: <https://www.keycloak.org/securing-apps/oidc-layers>, "Token endpoint", and `RefreshTokenGrantType` in
    /// <https://github.com/keycloak/keycloak>
    /// - Parameters:
    ///   - server: The URL of the server, such as `https://id.example.com`; by default the manager's base URL.
    ///   - realm: The name of the realm.
    ///   - client: The app's client registration.
    public static func keycloak(server: String = "", realm: String, client: OAuthClient) -> HTTPTokenRefresher {
        let realm = PercentEncoding.encode(realm, allowing: PercentEncoding.isUnreserved)
        return .oauth2(path: "\(server)/realms/\(realm)/protocol/openid-connect/token", client: client)
    }

    /// Amazon Cognito user pools: the operation `GetTokensFromRefreshToken`. The response contains the tokens within
    /// `AuthenticationResult`, and a refresh token if rotation is enabled. The terminal errors are
    /// `NotAuthorizedException`, `RefreshTokenReuseException` and `UserNotFoundException`.
    ///
    /// For the token endpoint of a user pool's domain, use ``oauth2(path:client:sendsJSON:sessionEnd:)`` with
    /// `/oauth2/token`.
    ///
    /// If the user pool remembers devices, a refresh needs the key of the device. It is sent if the tokens have it as
    /// an additional field with the name `DeviceKey` (``Tokens/additionalFields``): add it to the tokens of a sign-in
    /// that has confirmed the device.
    ///
    /// Source:
    /// <https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_GetTokensFromRefreshToken.html>
    /// - Parameters:
    ///   - region: The region of the user pool, such as `eu-central-1`.
    ///   - clientID: The identifier of the app client.
    ///   - clientSecret: The secret of the app client, if it has one.
    public static func cognito(
        region: String, clientID: String, clientSecret: Secret? = nil
    ) -> HTTPTokenRefresher {
        let region = PercentEncoding.encode(region, allowing: PercentEncoding.isUnreserved)
        return HTTPTokenRefresher(fields: .automatic) { tokens, client, fields in
            let deviceKey = tokens.additionalFields["DeviceKey"]
            let parameters = ["ClientId": Secret(clientID), "ClientSecret": clientSecret, "DeviceKey": deviceKey]
            let request = RefreshRequest(
                path: "https://cognito-idp.\(region).amazonaws.com/", query: [:], method: .post,
                placement: .json(field: "RefreshToken", parameters: parameters.compactMapValues(\.self)),
                accessTokenScheme: nil,
                headers: [
                    .contentType: "application/x-amz-json-1.1",
                    .amazonTarget: "AWSCognitoIdentityProviderService.GetTokensFromRefreshToken",
                ],
                sessionEnd: .code("NotAuthorizedException", "RefreshTokenReuseException", "UserNotFoundException"))
            return try await request.send(tokens, over: client, reading: fields)
        }
    }
}

// The names are valid, so the fallbacks are never used.
extension HTTPField.Name {
    /// `apikey`, which Supabase expects.
    fileprivate static let apiKey = HTTPField.Name("apikey") ?? .authorization
    /// `X-Amz-Target`, which names the operation of an AWS service.
    fileprivate static let amazonTarget = HTTPField.Name("X-Amz-Target") ?? .authorization
}
