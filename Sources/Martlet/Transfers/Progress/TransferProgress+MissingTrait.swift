#if os(Linux) && !URLSession && AsyncHTTPClient
    extension TransferMonitor {
        /// Needs the trait `URLSession`.
        @available(
            *, unavailable,
            message:
                "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
        )
        public func uploadProgress() {}

        /// Needs the trait `URLSession`.
        @available(
            *, unavailable,
            message:
                "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
        )
        public func downloadProgress() {}
    }
#endif
