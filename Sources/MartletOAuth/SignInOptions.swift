#if canImport(CryptoKit) || Encryption
    /// The options of one sign-in. The server may ignore them, except ``maxAge`` and ``acr``, which the ID token must
    /// confirm.
    ///
    /// ```swift
    /// var options = SignInOptions()
    /// options.prompt = "login"                 // asks for the password again
    /// options.loginHint = "ada@example.com"
    /// try await id.signIn(to: tokens, scope: ["openid"], options: options, with: browser)
    /// ```
    public struct SignInOptions: Sendable, Hashable {
        /// `prompt`, such as `login`, `consent` or `select_account`; several are separated by spaces.
        public var prompt: String?
        /// `login_hint`: the user that the server should suggest.
        public var loginHint: String?
        /// `ui_locales`: the languages of the server's pages, the preferred one first.
        public var uiLocales: [String] = []
        /// `max_age`: the maximum time since the user last authenticated, in whole seconds. If more time has passed,
        /// the server asks the user again. An ID token that does not confirm this is refused.
        public var maxAge: Duration?
        /// The acceptable values of `acr`, the way in which the server authenticates the user. An ID token with another
        /// one is refused. Empty if any value is acceptable.
        public var acr: [String] = []
        /// `resource`: the APIs that the access token is for (RFC 8707).
        public var resources: [String] = []
        /// Whether the sign-in also asks the userinfo endpoint for the user's claims.
        public var fetchesUserinfo = false
        /// Further parameters of the authorization request. They cannot replace one that Martlet sets.
        public var parameters: [String: String] = [:]

        /// Creates options that ask for nothing.
        public init() {}
    }
#endif
