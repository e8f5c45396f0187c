#if !canImport(CryptoKit) && !Encryption
    extension TLSPin {
        /// Needs the trait `Encryption`.
        @available(
            *, unavailable,
            message:
                "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
        )
        public static func publicKey(sha256 text: String) throws(TransportSettingsError) -> TLSPin {
            throw .invalidPins(text)
        }
    }
#endif
