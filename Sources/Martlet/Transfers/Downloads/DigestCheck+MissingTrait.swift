#if !canImport(CryptoKit) && !Encryption
    /// Needs the trait `Encryption`.
    @available(
        *, unavailable,
        message:
            "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
    )
    public struct DigestCheck: Sendable {
        /// Needs the trait `Encryption`.
        public static func sha256(_ digest: Any) -> DigestCheck { DigestCheck() }
        /// Needs the trait `Encryption`.
        public static func fromServer(required: Bool = false) -> DigestCheck { DigestCheck() }
    }

    extension DownloadOptions {
        /// Needs the trait `Encryption`.
        @available(
            *, unavailable,
            message:
                "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
        )
        public var check: DigestCheck? {
            get { nil }
            set {}
        }
    }
#endif
