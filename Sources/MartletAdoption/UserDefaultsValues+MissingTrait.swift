#if os(Linux) && !URLSession && AsyncHTTPClient
    public import Martlet

    extension FormerTokens {
        /// Needs the trait `URLSession`.
        @available(
            *, unavailable,
            message:
                "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
        )
        public static func userDefaults(
            accessToken: String, refreshToken: String?, suiteName: String? = nil,
            user: @escaping @Sendable (Tokens) -> SessionAccount = { _ in SessionAccount() }
        ) -> FormerTokens {
            FormerTokens(place: "", read: { _ in nil }, delete: { _ in })
        }
    }
#endif
