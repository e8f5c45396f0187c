#if !Encryption
    // The declarations that the trait adds, so that the compiler can say what is missing.

    extension TokenStore where Self == AnyTokenStore {
        /// Needs the trait `Encryption`.
        @available(
            *, unavailable,
            message:
                "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
        )
        public static func encryptedFile(path: String, key: EncryptionKey) -> AnyTokenStore { .inMemory }

        /// Needs the trait `Encryption`.
        @available(
            *, unavailable,
            message:
                "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
        )
        public static func encryptedFile(service: String, key: EncryptionKey) -> AnyTokenStore { .inMemory }
    }
#endif

#if os(Linux) && !URLSession && AsyncHTTPClient
    extension TokenStore where Self == AnyTokenStore {
        /// Needs the trait `URLSession`.
        @available(
            *, unavailable,
            message:
                "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
        )
        public static var userDefaults: AnyTokenStore { .inMemory }

        /// Needs the trait `URLSession`.
        @available(
            *, unavailable,
            message:
                "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
        )
        public static func userDefaults(
            key: String = "martlet.session", suiteName: String? = nil
        ) -> AnyTokenStore { .inMemory }
    }
#endif
