#if !Encryption
    // Placeholders for the declarations that the trait adds, so that the compiler names the missing trait.

    /// Needs the trait `Encryption`.
    @available(
        *, unavailable,
        message:
            "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
    )
    public struct EncryptionKey: Sendable {
        private init() {}

        /// Needs the trait `Encryption`.
        public static func passphrase(_ passphrase: Secret) -> EncryptionKey { EncryptionKey() }

        /// Needs the trait `Encryption`.
        public static func file(
            path: String, holdsPassphrase: Bool = false, createIfMissing: Bool = false
        ) -> EncryptionKey { EncryptionKey() }

        /// Needs the trait `Encryption`.
        public static func systemdCredential(_ name: String, holdsPassphrase: Bool = false) -> EncryptionKey {
            EncryptionKey()
        }

        /// Needs the trait `Encryption`.
        public static func mountedSecret(at path: String, holdsPassphrase: Bool = false) -> EncryptionKey {
            EncryptionKey()
        }

        /// Needs the trait `Encryption`.
        public static func environment(_ variable: String, holdsPassphrase: Bool = false) -> EncryptionKey {
            EncryptionKey()
        }
    }

    extension SecureStorage where Self == AnySecureStorage {
        /// Needs the trait `Encryption`.
        @available(
            *, unavailable,
            message:
                "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
        )
        public static func encryptedFiles(in folder: String, key: EncryptionKey) -> AnySecureStorage { .inMemory }

        /// Needs the trait `Encryption`.
        @available(
            *, unavailable,
            message:
                "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
        )
        public static func encryptedFiles(service: String, key: EncryptionKey) -> AnySecureStorage { .inMemory }
    }
#endif
