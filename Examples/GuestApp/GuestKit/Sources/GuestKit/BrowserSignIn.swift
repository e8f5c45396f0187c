#if canImport(CryptoKit) || Encryption
    public import Martlet
    public import MartletOAuth

    extension AppModel {
        /// The redirect URI, whose scheme belongs to the app.
        private static let redirect = OAuthServer.Redirect.appScheme("com.example.martlet.guestapp:/callback")

        /// Creates the model of a sign-in with the browser at an OpenID provider.
        ///
        /// The reference backend is both the API and the provider, so it refreshes and revokes the tokens of this
        /// session like those of a guest. If your provider is another server, create the `TokenManager` with its
        /// `OAuthServer`.
        /// - Parameters:
        ///   - issuer: The provider's issuer, exactly as its metadata spells it.
        ///   - redirect: The redirect URI; that of the app if `nil`.
        ///   - transport: The transport that sends requests.
        public func makeBrowserSignIn(
            at issuer: String, redirect: OAuthServer.Redirect? = nil, transport: any Transport = .platformDefault
        ) -> OAuthSignInModel {
            let id = OAuthServer(
                issuer: issuer, client: OAuthClient(id: "app"), redirect: redirect ?? Self.redirect,
                transport: transport)
            return OAuthSignInModel(id, to: tokens, scope: ["openid"])
        }
    }
#endif
