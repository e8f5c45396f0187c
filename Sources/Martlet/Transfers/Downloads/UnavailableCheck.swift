#if !canImport(CryptoKit) && !Encryption
    extension DownloadOptions {
        /// Needs the trait `Encryption`.
        @available(
            *, unavailable,
            message:
                "needs the trait Encryption: add traits: [.defaults, \"Encryption\"] to the package martlet in Package.swift"
        )
        public var check: Never? {
            get { nil }
            set {}
        }
    }
#endif
