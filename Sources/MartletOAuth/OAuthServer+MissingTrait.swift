#if !canImport(CryptoKit) && !Encryption
    public import Martlet

    /// On Linux, this module needs the trait `Encryption`, which adds swift-crypto:
    /// `.package(url: "…/martlet", …, traits: [.defaults, "Encryption"])`
    @available(
        *, unavailable,
        message:
            "needs the trait Encryption on Linux: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
    )
    public struct OAuthServer: Sendable {
        /// Needs the trait `Encryption`.
        public struct Redirect: Sendable {
            /// Needs the trait `Encryption`.
            public static func appScheme(_ uri: String) -> Redirect { Redirect() }

            /// Needs the trait `Encryption`.
            public static func claimed(_ url: String) -> Redirect { Redirect() }

            /// Needs the trait `Encryption`.
            public static func loopback(port: UInt16 = 0, path: String = "/callback") -> Redirect { Redirect() }
        }

        /// Needs the trait `Encryption`.
        public init(
            issuer: String, client: OAuthClient, redirect: Redirect, transport: (any Transport)? = nil,
            time: (any TimeSource)? = nil
        ) {}
    }
#endif
