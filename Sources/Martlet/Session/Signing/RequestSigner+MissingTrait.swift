#if os(Linux) && !URLSession && AsyncHTTPClient
    /// Needs the trait `URLSession`.
    @available(
        *, unavailable,
        message:
            "needs the trait URLSession: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
    )
    public final class RequestSigner: Sendable {
        /// Needs the trait `URLSession`.
        public init(tokens: TokenManager) {}
    }
#endif
