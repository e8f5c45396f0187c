#if AsyncHTTPClient
    public import AsyncHTTPClient
    public import HTTPTypes
    internal import NIOCore
    internal import NIOHTTP1

    /// Sends requests with async-http-client on SwiftNIO. This is the default transport on Linux.
    ///
    /// It speaks HTTP/1.1, and HTTP/2 if an `https` server offers it. Bodies are streamed in both directions with
    /// back-pressure. It uses a proxy only if ``ProxySettings`` name one. It creates no tracing spans, because they
    /// would carry the whole URL with its secrets. For tracing, pass a client of your own to
    /// ``init(client:decodesContent:isolatedClient:)``.
    ///
    /// Its connections close when the transport and all response bodies have been released, or with ``shutdown()``.
    public final class AsyncHTTPClientTransport: Transport {
        /// The shared transport of the process. It cannot be shut down.
        public static let shared = AsyncHTTPClientTransport(Settings(), isShared: true)

        let connections: Connections
        /// The other clients; `nil` if all requests use ``connections``.
        private let routes: Routes?
        /// The loops and time limits of exchanges in memory.
        let loops: BalancedLoops
        let limits = TimeLimits(time: .system)
        private let isShared: Bool
        /// Creates the transport that ``makeIsolatedTransport()`` returns; `nil` if that is this transport itself.
        private let makeIsolated: (@Sendable () -> AsyncHTTPClientTransport)?
        private let isolated = Locked<Isolated>(.notCreated)
        /// The limit of HTTP/1.1 connections to one host; `nil` if the app's own client decides.
        private let connectionLimit: Int?
        /// The origins with HTTP/2, where one connection carries many requests.
        private let multiplexed = Locked<Set<Origin>>([])

        /// Whether the isolated transport has been created or shut down.
        private enum Isolated {
            case notCreated
            case created(AsyncHTTPClientTransport)
            case shutDown
        }

        /// Creates a transport with its own connections. The defaults suit most apps.
        /// - Parameters:
        ///   - allowsHTTP2: Whether to use HTTP/2 if the server offers it; otherwise only HTTP/1.1.
        ///   - maximumConnectionsPerHost: The limit of HTTP/1.1 connections to one host; at least 1. Further requests
        ///     wait.
        ///   - connectTimeout: The time limit for connecting, and for waiting for a free connection.
        ///   - maximumInflation: The largest size of a response, as a multiple of its compressed size. A larger
        ///     response is treated as a decompression bomb and fails with ``TransportError/invalidResponse(_:)``.
        public convenience init(
            allowsHTTP2: Bool = true,
            maximumConnectionsPerHost: Int = 8,
            connectTimeout: Duration = .seconds(20),
            maximumInflation: Int = 200
        ) {
            var settings = Settings()
            settings.allowsHTTP2 = allowsHTTP2
            settings.maximumConnectionsPerHost = max(1, maximumConnectionsPerHost)
            settings.connectTimeout = connectTimeout
            settings.maximumInflation = maximumInflation
            self.init(settings, isShared: false)
        }

        /// Creates a transport with its own certificates, pins or proxy.
        /// - Parameters:
        ///   - tls: The servers to trust, and the identity of the client.
        ///   - proxy: The proxy; `nil` for none.
        ///   - allowsHTTP2: Whether to use HTTP/2 if the server offers it; otherwise only HTTP/1.1.
        ///   - maximumConnectionsPerHost: The limit of HTTP/1.1 connections to one host; at least 1.
        ///   - connectTimeout: The time limit for connecting, and for waiting for a free connection.
        ///   - maximumInflation: The largest size of a response, as a multiple of its compressed size.
        /// - Throws: ``TransportSettingsError`` if a certificate, key, pin or address cannot be used.
        public convenience init(
            tls: TLSSettings,
            proxy: ProxySettings? = nil,
            allowsHTTP2: Bool = true,
            maximumConnectionsPerHost: Int = 8,
            connectTimeout: Duration = .seconds(20),
            maximumInflation: Int = 200
        ) throws(TransportSettingsError) {
            var settings = try Settings(tls, proxy)
            settings.allowsHTTP2 = allowsHTTP2
            settings.maximumConnectionsPerHost = max(1, maximumConnectionsPerHost)
            settings.connectTimeout = connectTimeout
            settings.maximumInflation = maximumInflation
            self.init(settings, isShared: false)
        }

        private init(_ settings: Settings, isShared: Bool) {
            self.connections = settings.makeConnections(nil, nil)
            self.routes = settings.isUniform ? nil : Routes(settings, base: connections)
            self.loops = BalancedLoops(connections.client.eventLoopGroup)
            self.isShared = isShared
            self.connectionLimit = settings.maximumConnectionsPerHost
            self.makeIsolated = { AsyncHTTPClientTransport(settings, isShared: false) }
        }

        /// Creates a transport that uses your own client. You shut the client down yourself.
        ///
        /// Create the client with `redirectConfiguration: .disallow`, because Martlet follows redirects itself. Set
        /// `connectionPool.retryConnectionEstablishment` to `false`; otherwise a request to a host that is down takes
        /// the whole timeout.
        /// - Parameters:
        ///   - client: Sends the requests.
        ///   - decodesContent: Whether `client` has `decompression` enabled.
        ///   - isolatedClient: Sends the requests that must not wait behind others, such as a token refresh; configured
        ///     like `client`. Without it, they wait for a connection like all other requests.
        public init(client: HTTPClient, decodesContent: Bool, isolatedClient: HTTPClient? = nil) {
            self.connections = Connections(client, isOwned: false, decodesContent: decodesContent)
            self.routes = nil
            self.loops = BalancedLoops(client.eventLoopGroup)
            self.isShared = false
            self.connectionLimit = nil
            if let isolatedClient {
                self.makeIsolated = { AsyncHTTPClientTransport(client: isolatedClient, decodesContent: decodesContent) }
            } else {
                self.makeIsolated = nil
            }
        }

        /// Sends the request and returns when the head of the response has arrived.
        public func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            let connections = try connections(for: request)
            let transfer = Transfer(connections)
            let upload = try await Upload(body, through: connections.client.eventLoopGroup)
            do {
                let outgoing = try HTTPClientRequest(
                    request, body: upload.body, acceptsCompression: connections.decodesContent)
                let response = try await connections.client.execute(outgoing, deadline: .distantFuture)
                if response.version.major > 1 { recordMultiplexing(outgoing.url) }
                transfer?.receive(response.version, response.headers)
                return try Self.convert(
                    response, to: request.method, upload: upload.bridge, connections: connections)
            } catch {
                upload.bridge?.stop()
                throw TransportError.reason(for: error)
            }
        }

        /// The limit of connections to an origin that uses HTTP/1.1 or whose version is not known yet; `nil` for
        /// HTTP/2.
        public func parallelRequests(to origin: Origin) -> Int? {
            guard let connectionLimit else { return nil }
            return multiplexed.withLock { $0.contains(origin) } ? nil : connectionLimit
        }

        /// The client for a request.
        func connections(for request: HTTPRequest) throws(TransportError) -> Connections {
            guard let routes else { return connections }
            return try routes.connections(for: request)
        }

        func recordMultiplexing(_ url: String) {
            guard connectionLimit != nil, case .success(let location) = Location.parse(url) else { return }
            multiplexed.withLock { _ = $0.insert(location.origin) }
        }

        /// A second transport with the same settings and its own connections. It is created once, and shut down with
        /// this one.
        public func makeIsolatedTransport() -> any Transport {
            guard let makeIsolated else { return self }
            return isolated.withLock { isolated -> AsyncHTTPClientTransport in
                switch isolated {
                case .created(let transport): return transport
                case .shutDown: return self
                case .notCreated:
                    let transport = makeIsolated()
                    isolated = .created(transport)
                    return transport
                }
            }
        }

        /// Closes all connections. Requests in progress fail. ``shared`` and a client of your own stay open.
        public func shutdown() async throws {
            guard !isShared else { return }
            let isolated = isolated.withLock { isolated in
                defer { isolated = .shutDown }
                return isolated
            }
            if case .created(let transport) = isolated { try await transport.shutdown() }
            try await routes?.shutdown()
            try await connections.shutdown()
        }
    }

    extension AsyncHTTPClientTransport {
        /// An async-http-client with its pool of connections. A client that the transport has created is shut down with
        /// the last request that uses it.
        final class Connections: Sendable {
            let client: HTTPClient
            let decodesContent: Bool
            /// Counts the connections that the client opens; `nil` for the app's own client.
            let opened: OpenedConnections?
            private let isOwned: Bool

            init(_ client: HTTPClient, isOwned: Bool, decodesContent: Bool, opened: OpenedConnections? = nil) {
                self.opened = opened
                self.client = client
                self.isOwned = isOwned
                self.decodesContent = decodesContent
            }

            deinit {
                // HTTPClient traps if it is released without a shutdown. A second shutdown reports an error, which is
                // ignored.
                if isOwned { client.shutdown { _ in } }
            }

            func shutdown() async throws {
                guard isOwned else { return }
                do {
                    try await client.shutdown()
                } catch let error as HTTPClientError where error == .alreadyShutdown {}
            }
        }
    }
#endif
