#if canImport(CryptoKit) || Encryption
    public import Martlet

    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    extension OAuthServer {
        /// Signs a user in: opens the browser, waits for the callback, exchanges its code, verifies the ID token, and
        /// starts a session with the tokens.
        ///
        /// ```swift
        /// let user = try await id.signIn(
        ///     to: tokens, scope: ["openid", "offline_access"], with: .webSession(anchor: window))
        /// ```
        /// - Parameters:
        ///   - tokens: The manager that starts the session. Make it with ``/Martlet/TokenManager``'s initializer that
        ///     takes an ``OAuthServer``, so that it refreshes and revokes the tokens at this server.
        ///   - scope: The scope. With `openid`, the server identifies the user. Many servers issue a refresh token only
        ///     for `offline_access`.
        ///   - options: The options of this sign-in.
        ///   - browser: Opens the browser and receives the callback.
        /// - Returns: The user, once the session has started. If its record could not be written,
        ///   `SignedInSession.isSaved` is `false`, and the write is retried. `SessionAccount.userID` of the session is
        ///   the user's subject.
        /// - Throws: ``OAuthError``. Nothing is stored then, and an earlier session continues.
        @discardableResult
        public func signIn(
            to tokens: TokenManager, scope: [String], options: SignInOptions = SignInOptions(),
            with browser: OAuthBrowser
        ) async throws(OAuthError) -> OAuthUser {
            let owner = tokens.signInOwner
            let visit = try await browser.begin(redirect)
            defer { visit.close() }
            let attempt = try await beginSignIn(scope: scope, options: options, redirectURI: visit.redirectURI)
            let callback = try await visit.open(attempt.url, attempt.state)
            return try await finish(attempt, callback, to: tokens, since: owner)
        }

        /// Signs a user in with a browser that a closure opens.
        ///
        /// ```swift
        /// try await id.signIn(to: tokens, scope: ["openid"]) { url in try await window.visit(url) }
        /// ```
        /// - Parameters:
        ///   - tokens: The manager that starts the session.
        ///   - scope: The scope.
        ///   - options: The options of this sign-in.
        ///   - browser: Opens the URL in the user's browser, and returns the URL that the server redirects it to. It
        ///     throws `CancellationError` if the user gives up.
        /// - Returns: The user, once the session has started. If its record could not be written,
        ///   `SignedInSession.isSaved` is `false`, and the write is retried.
        /// - Throws: ``OAuthError``. Nothing is stored then, and an earlier session continues.
        @discardableResult
        public func signIn(
            to tokens: TokenManager, scope: [String], options: SignInOptions = SignInOptions(),
            with browser: @escaping @Sendable (URL) async throws -> URL
        ) async throws(OAuthError) -> OAuthUser {
            try await signIn(to: tokens, scope: scope, options: options, with: OAuthBrowser(browser))
        }

        /// Begins a sign-in whose callback arrives elsewhere: as a request to a web server, or as a universal link.
        /// - Parameters:
        ///   - scope: The scope.
        ///   - options: The options of this sign-in.
        /// - Returns: The attempt. Open its ``SignInAttempt/url``, and keep it for ``finish(_:callback:to:)``.
        /// - Throws: ``OAuthError``.
        public func beginSignIn(
            scope: [String], options: SignInOptions = SignInOptions()
        ) async throws(OAuthError) -> SignInAttempt {
            try await beginSignIn(scope: scope, options: options, redirectURI: redirect.fixedURI())
        }

        private func beginSignIn(
            scope: [String], options: SignInOptions, redirectURI: String
        ) async throws(OAuthError) -> SignInAttempt {
            let metadata = try await discovery.metadata()
            return try await AuthorizationRequest(server: self, metadata: metadata, redirectURI: redirectURI)
                .begin(scope: scope, options)
        }

        /// Finishes a sign-in with the URL that the server has redirected the browser to.
        /// - Parameters:
        ///   - attempt: The attempt of ``beginSignIn(scope:options:)``. Use it once.
        ///   - callback: The URL with its query. Only the query is read, so a web server may pass `/callback?…`.
        ///   - tokens: The manager that starts the session.
        /// - Returns: The user, once the session has started. If its record could not be written,
        ///   `SignedInSession.isSaved` is `false`, and the write is retried.
        /// - Throws: ``OAuthError``. Nothing is stored then, and an earlier session continues.
        @discardableResult
        public func finish(
            _ attempt: SignInAttempt, callback: URL, to tokens: TokenManager
        ) async throws(OAuthError) -> OAuthUser {
            try await finish(attempt, callback, to: tokens, since: tokens.signInOwner)
        }

        private func finish(
            _ attempt: SignInAttempt, _ callback: URL, to tokens: TokenManager, since owner: CallOwner
        ) async throws(OAuthError) -> OAuthUser {
            guard attempt.issuer.isIdentical(to: issuer) else {
                throw OAuthError(.wrongIssuer, "The attempt is \(attempt), and cannot be finished at \(issuer).")
            }
            let metadata = try await discovery.metadata()
            let code = try AuthorizationResponse(callback).code(for: attempt, metadata)
            guard !Task.isCancelled else { throw OAuthError(.cancelled, "The sign-in at \(issuer) was cancelled.") }
            let exchange = CodeExchange(
                server: self, metadata: metadata, attempt: attempt, code: code, manager: tokens)
            // From here on, the server may issue tokens. A task that is cancelled now would lose them and could not
            // revoke them.
            return try await Task { () -> Result<OAuthUser, OAuthError> in
                do throws(OAuthError) {
                    let (issued, user) = try await exchange.run()
                    try await start(issued, of: user, in: tokens, since: owner)
                    return .success(user)
                } catch {
                    return .failure(error)
                }
            }.value.get()
        }

        private func start(
            _ issued: Tokens, of user: OAuthUser, in tokens: TokenManager, since owner: CallOwner
        ) async throws(OAuthError) {
            let account = SessionAccount(userID: user.subject)
            do throws(SessionError) {
                // If another sign-in or a sign-out came first, the manager revokes the tokens.
                try await tokens.signIn(with: issued, account: account, since: owner.epoch)
            } catch {
                throw OAuthError(.session(error), "The user has signed in at \(issuer), but no session began: \(error)")
            }
        }
    }

    extension OAuthServer.Redirect {
        /// The redirect URI, if it is known before a browser opens.
        /// - Throws: ``OAuthError/Kind/unsupported`` if it is a loopback address with a port that the system chooses,
        ///   or if it is not acceptable.
        func fixedURI() throws(OAuthError) -> String {
            switch kind {
            case .loopback(0, _):
                throw OAuthError(
                    .unsupported,
                    "The redirect URI has no port yet. Sign in with the browser .loopback(), or set a port with .loopback(port:)."
                )
            case .loopback(let port, let path):
                try Self.checkLoopbackPath(path)
                return Self.loopbackURI(port: port, path: path)
            case .fixed(let uri):
                guard Self.isAcceptable(uri) else {
                    throw OAuthError(
                        .unsupported,
                        "The redirect \(uri) is neither an https URL nor a URI with an app's scheme. Correct it.")
                }
                return uri
            }
        }

        static func loopbackURI(port: UInt16, path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

        /// Checks that a browser requests this path exactly as it is spelled.
        /// - Throws: ``OAuthError/Kind/unsupported``.
        static func checkLoopbackPath(_ path: String) throws(OAuthError) {
            let isPlain = path.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "-._~!$&'()*+,;=:@/%".utf8.contains(byte)
                }
            }
            let hasDots = path.lowercased().replacing("%2e", with: ".").split(separator: "/").contains {
                $0 == "." || $0 == ".."
            }
            guard isPlain, !hasDots else {
                throw OAuthError(
                    .unsupported,
                    "The loopback path \(path) has a query, a fragment, a dot segment or a character that browsers"
                        + " encode. Use a plain path, such as /callback.")
            }
        }

        /// Whether a redirect to a URI keeps the code safe (RFC 8252, sections 7 and 8.4). The URI has no fragment, and
        /// its scheme is `https` or an app's, or `http` for this machine.
        private static func isAcceptable(_ uri: String) -> Bool {
            guard let colon = uri.firstIndex(of: ":"), !uri.utf8.contains(UInt8(ascii: "#")) else { return false }
            let scheme = uri[..<colon].lowercased()
            guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else {
                return false
            }
            if scheme == "https" || scheme == "http" { return ServerMetadata.isAcceptable(uri, isLocal: true) }
            return !["javascript", "data", "file", "about", "blob"].contains(scheme)
        }
    }
#endif
