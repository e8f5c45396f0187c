// The names of the transports that a trait adds, so that the compiler says what is missing.

#if os(Linux) && AsyncHTTPClient && !URLSession
    /// Needs the trait `URLSession`.
    @available(
        *, unavailable,
        message:
            "needs the trait URLSession on Linux: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
    )
    public struct URLSessionTransport {
        /// Needs the trait `URLSession`.
        public init() {}
    }
#endif

#if !AsyncHTTPClient
    /// Needs the trait `AsyncHTTPClient`.
    @available(
        *, unavailable,
        message:
            "needs the trait AsyncHTTPClient: add traits: [.defaults, \"AsyncHTTPClient\"] to the package martlet in Package.swift"
    )
    public struct AsyncHTTPClientTransport {
        /// Needs the trait `AsyncHTTPClient`.
        public init() {}
    }
#endif
