#if canImport(CryptoKit) || Encryption
    public import Martlet

    extension TokenManager {
        /// Creates a manager for a session that begins with a browser sign-in at a server. It refreshes and revokes the
        /// tokens there.
        ///
        /// For further settings, use the initializer with ``OAuthServer/refresher(sessionEnd:)`` and
        /// ``OAuthServer/revoker``.
        /// - Parameters:
        ///   - baseURL: The base URL of the API. Access tokens are sent to its origin, which need not be that of the
        ///     server.
        ///   - store: Keeps the session across restarts.
        ///   - server: The server.
        ///   - sessionEnd: The responses of the token endpoint that end the session. By default, those with the code
        ///     `invalid_grant` (RFC 6749, section 5.2) and the status 400, 401 or 403, which Auth0 uses. A server that
        ///     refuses a spent token without a code needs `.status(400)`.
        ///   - policy: The rules for refreshes.
        ///   - transport: Sends requests.
        ///   - time: The clocks; the system's if `nil`.
        public convenience init(
            baseURL: BaseURL, store: any TokenStore, oauth server: OAuthServer,
            sessionEnd: SessionEndRule = .code("invalid_grant", status: 400, 401, 403),
            policy: SessionPolicy = SessionPolicy(), transport: any Transport = .platformDefault,
            time: (any TimeSource)? = nil
        ) {
            self.init(
                baseURL: baseURL, store: store, refresher: server.refresher(sessionEnd: sessionEnd),
                revoker: server.revoker, policy: policy, transport: transport, time: time)
        }
    }

    extension OAuthServer {
        /// Refreshes tokens at the server's token endpoint, with the client's authentication.
        ///
        /// If the endpoint has not been discovered yet and cannot be now, the refresh fails without using up the
        /// refresh token, and the session stays. An ID token in the response must be that of the same user (OpenID
        /// Connect Core 1.0, section 12.2), and the access token must be a bearer token. Otherwise the new tokens are
        /// not used. If the server has replaced the refresh token, they are revoked, and the session ends with the code
        /// `invalid_id_token` or `unsupported_token_type`.
        /// - Parameter sessionEnd: The responses of the token endpoint that end the session. By default, those with the
        ///   code `invalid_grant` and the status 400, 401 or 403.
        public func refresher(
            sessionEnd: SessionEndRule = .code("invalid_grant", status: 400, 401, 403)
        ) -> some TokenRefresher {
            OAuthRefresher(server: self, sessionEnd: sessionEnd)
        }

        /// Revokes tokens at the server's revocation endpoint (RFC 7009). If the server has none, each sign-out reports
        /// ``/Martlet/SessionEvent/revocationFailed(_:)``, because the tokens stay valid until they expire.
        public var revoker: TokenRevoker {
            .custom { [self] tokens, client in
                guard let endpoint = try await discovery.revocationEndpoint() else {
                    throw TokenRevoker.Refusal("\(issuer) has no revocation endpoint")
                }
                try await TokenRevoker.oauth2(path: endpoint, client: self.client)
                    .revoke(tokens, sendingAccessToken: false, over: client)
            }
        }

        /// Revokes tokens that have not started a session, unless the server has issued the same ones for the current
        /// session of a manager. It waits a short time for the server, because a command may exit afterwards.
        func revoke(_ tokens: Tokens, unlessUsedBy manager: TokenManager?) async {
            if manager?.hasInUse(tokens) == true { return }
            _ = await link.run(within: .seconds(5)) { [self] in
                guard let endpoint = try await discovery.revocationEndpoint() else { return }
                let endpointClient = TokenEndpointClient(
                    baseURL: BaseURL(issuer), transport: link.transport, time: link.time)
                try await TokenRevoker.oauth2(path: endpoint, client: client)
                    .revoke(tokens, sendingAccessToken: false, over: endpointClient)
            }
        }
    }
#endif
