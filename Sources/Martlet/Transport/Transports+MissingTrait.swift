// Placeholders for the transports that a trait adds, so that the compiler names the missing trait.

#if os(Linux) && AsyncHTTPClient && !URLSession
    /// Needs the trait `URLSession`.
    @available(
        *, unavailable,
        message:
            "needs the trait URLSession on Linux: add traits: [.defaults, \"URLSession\"] to the package martlet in Package.swift"
    )
    public struct URLSessionTransport {
        /// Stands for `URLSessionConfiguration`, which Martlet does not import on Linux without the trait.
        public enum Configuration {
            case `default`, ephemeral
        }

        /// Needs the trait `URLSession`.
        public init(tls: TLSSettings? = nil, proxy: ProxySettings? = nil) {}

        /// Needs the trait `URLSession`.
        public init(configuration: Configuration, tls: TLSSettings? = nil, proxy: ProxySettings? = nil) {}

        /// Needs the trait `URLSession`.
        public init(configuration: Any, tls: TLSSettings? = nil, proxy: ProxySettings? = nil) {}

        /// Needs the trait `URLSession`.
        public static var shared: Self { Self() }
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
        // Has the transport's parameters; otherwise the compiler would report the arguments, not the missing trait.
        /// Needs the trait `AsyncHTTPClient`.
        public init(
            tls: TLSSettings? = nil, proxy: ProxySettings? = nil, allowsHTTP2: Bool = true,
            maximumConnectionsPerHost: Int = 8, connectTimeout: Duration = .seconds(20), maximumInflation: Int = 200
        ) {}

        /// Needs the trait `AsyncHTTPClient`.
        public init(client: Any, decodesContent: Bool, isolatedClient: Any? = nil) {}

        /// Needs the trait `AsyncHTTPClient`.
        public static var shared: Self { Self() }
    }
#endif
