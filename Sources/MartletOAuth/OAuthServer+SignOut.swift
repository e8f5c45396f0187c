#if canImport(CryptoKit) || Encryption
    public import Martlet

    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    extension OAuthServer {
        /// Signs the user out on this device and at the server, and in the browser too (OpenID Connect RP-Initiated
        /// Logout 1.0).
        ///
        /// The session on this device ends first, whatever happens afterwards, and its tokens are revoked. Then the
        /// browser opens the server's logout page, which sends it back to the redirect URI; register that URI there for
        /// the logout too.
        /// - Parameters:
        ///   - tokens: The session to end.
        ///   - browser: Opens the browser and receives the callback.
        /// - Throws: ``OAuthError`` if the browser was not signed out; ``OAuthError/Kind/unsupported`` if the server
        ///   has no logout page.
        public func signOut(of tokens: TokenManager, with browser: OAuthBrowser) async throws(OAuthError) {
            let idToken = await tokens.signOutReturningIDToken()
            let metadata = try await discovery.metadata()
            guard let endpoint = metadata.logoutEndpoint else {
                throw OAuthError(
                    .unsupported,
                    "\(issuer) has no end_session_endpoint. The user is signed out here, but not in the browser.")
            }
            let visit = try await browser.begin(redirect)
            defer { visit.close() }
            let state = randomText()
            let query: Query = [
                "id_token_hint": idToken?.reveal(), "client_id": client.id,
                "post_logout_redirect_uri": visit.redirectURI,
                "state": state.reveal(),
            ]
            guard
                let url = URL(
                    string: endpoint + (endpoint.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query.encoded)
            else {
                throw OAuthError(.discovery, "The end_session_endpoint of \(issuer) cannot be opened: it is not a URL.")
            }
            let callback = try await visit.open(url, state)
            guard AuthorizationResponse(callback).hasState(state) else {
                throw OAuthError(.stateMismatch, "The callback of \(issuer) does not belong to this sign-out.")
            }
        }

        /// Signs the user out with a browser that a closure opens. The session on this device ends first, whatever
        /// happens afterwards.
        /// - Parameters:
        ///   - tokens: The session to end.
        ///   - browser: Opens the URL in the user's browser, and returns the URL that the server redirects it to.
        public func signOut(
            of tokens: TokenManager, with browser: @escaping @Sendable (URL) async throws -> URL
        ) async throws(OAuthError) {
            try await signOut(of: tokens, with: OAuthBrowser(browser))
        }
    }
#endif
