#if AsyncHTTPClient
    public import AsyncHTTPClient
    public import HTTPTypes
    internal import NIOCore
    internal import NIOHTTP1
    internal import NIOHTTPCompression
    public import NIOSSL

    /// Sends requests with async-http-client, on SwiftNIO's own threads: the transport on Linux.
    ///
    /// It speaks HTTP/1.1, and HTTP/2 where a server of `https` offers it. Bodies stream both ways with back-pressure. No
    /// proxy is used, whatever the environment says.
    ///
    /// Its connections close when the transport and the bodies it returned are released; ``shutdown()`` does it at once.
    public final class AsyncHTTPClientTransport: Transport {
        /// The transport of the whole process. It is never shut down.
        public static let shared = AsyncHTTPClientTransport(Options(), isShared: true)

        private let connections: Connections
        private let isShared: Bool
        /// Makes the transport behind ``makeLane()``; without it the lane is this transport.
        private let newLane: (@Sendable () -> AsyncHTTPClientTransport)?
        private let lane = Locked<Lane>(.unmade)
        /// How many connections of HTTP/1.1 there may be to one host; `nil` where that is not ours to say.
        private let connectionLimit: Int?
        /// Where HTTP/2 is spoken: there one connection takes many requests.
        private let multiplexed = Locked<Set<Origin>>([])

        private enum Lane {
            case unmade
            case made(AsyncHTTPClientTransport)
            case shutDown
        }

        /// A transport with connections of its own.
        public convenience init(_ options: Options = Options()) {
            self.init(options, isShared: false)
        }

        private init(_ options: Options, isShared: Bool) {
            self.connections = Connections(
                HTTPClient(configuration: options.configuration), isOwned: true, decodesContent: true)
            self.isShared = isShared
            self.connectionLimit = max(1, options.maximumConnectionsPerHost)
            self.newLane = { AsyncHTTPClientTransport(options) }
        }

        /// A transport that sends with a client of yours, which stays yours to shut down.
        ///
        /// Give it `redirectConfiguration: .disallow`, because Martlet follows redirects itself, and set
        /// `connectionPool.retryConnectionEstablishment` to `false`, or a host that is down costs the whole timeout.
        /// - Parameters:
        ///   - client: What sends the requests.
        ///   - decodesContent: Whether `client` was made with `decompression` on.
        ///   - lane: What sends the requests that must not wait behind the others, such as the refresh of a token;
        ///     made like `client`. Without it they wait for a connection as all others do.
        public init(client: HTTPClient, decodesContent: Bool, lane: HTTPClient? = nil) {
            self.connections = Connections(client, isOwned: false, decodesContent: decodesContent)
            self.isShared = false
            self.connectionLimit = nil
            if let lane {
                self.newLane = { AsyncHTTPClientTransport(client: lane, decodesContent: decodesContent) }
            } else {
                self.newLane = nil
            }
        }

        /// Sends the request and returns once the head of the answer is there.
        public func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
            let upload = try await Upload(body, through: connections.client.eventLoopGroup)
            do {
                let outgoing = try HTTPClientRequest(
                    request, body: upload.body, acceptsCompression: connections.decodesContent)
                let response = try await connections.client.execute(outgoing, deadline: .distantFuture)
                if response.version.major > 1, connectionLimit != nil { noteMultiplexing(outgoing.url) }
                return try TransportResponse(
                    response, to: request.method, upload: upload.handoff, connections: connections)
            } catch {
                upload.handoff?.stop()
                throw TransportError.reason(for: error)
            }
        }

        /// The limit of connections, where HTTP/1.1 is spoken or nobody knows yet; any number over HTTP/2.
        public func parallelRequests(to origin: Origin) -> Int? {
            guard let connectionLimit else { return nil }
            return multiplexed.withLock { $0.contains(origin) } ? nil : connectionLimit
        }

        private func noteMultiplexing(_ url: String) {
            guard case .success(let location) = Location.parse(url) else { return }
            multiplexed.withLock { _ = $0.insert(location.origin) }
        }

        /// A second transport of the same options, so that its requests never wait for a connection that these hold.
        ///
        /// It is made once and shut down with this one.
        public func makeLane() -> any Transport {
            guard let newLane else { return self }
            return lane.withLock { lane -> AsyncHTTPClientTransport in
                switch lane {
                case .made(let made): return made
                case .shutDown: return self
                case .unmade:
                    let made = newLane()
                    lane = .made(made)
                    return made
                }
            }
        }

        /// Closes all connections; requests under way fail. ``shared`` and a client of yours stay open.
        public func shutdown() async throws {
            guard !isShared else { return }
            let lane = lane.withLock { lane in
                defer { lane = .shutDown }
                return lane
            }
            if case .made(let made) = lane { try await made.shutdown() }
            try await connections.shutdown()
        }
    }

    extension AsyncHTTPClientTransport {
        /// What can be set.
        public struct Options: Sendable {
            /// The versions of HTTP to speak.
            public enum HTTPVersion: Sendable, Hashable {
                /// HTTP/2 where the server offers it through TLS, else HTTP/1.1.
                case automatic
                /// HTTP/1.1 only.
                case http1Only
            }

            /// Certificates to trust or to show; `nil` trusts what the system trusts.
            public var tlsConfiguration: TLSConfiguration?
            /// The versions of HTTP to speak.
            public var httpVersion: HTTPVersion
            /// How many connections of HTTP/1.1 to hold to one host; a request beyond that waits for one.
            public var maximumConnectionsPerHost: Int
            /// How long connecting may take, and waiting for a free connection.
            public var connectTimeout: Duration
            /// How many times larger than it was sent an answer may become when it is decompressed. One that is larger
            /// is taken for a bomb and fails with ``TransportError/invalidResponse(_:)``.
            public var maximumInflation: Int

            /// Options; the defaults suit most apps.
            public init(
                tlsConfiguration: TLSConfiguration? = nil,
                httpVersion: HTTPVersion = .automatic,
                maximumConnectionsPerHost: Int = 8,
                connectTimeout: Duration = .seconds(30),
                maximumInflation: Int = 200
            ) {
                self.tlsConfiguration = tlsConfiguration
                self.httpVersion = httpVersion
                self.maximumConnectionsPerHost = maximumConnectionsPerHost
                self.connectTimeout = connectTimeout
                self.maximumInflation = maximumInflation
            }

            fileprivate var configuration: HTTPClient.Configuration {
                var configuration = HTTPClient.Configuration(
                    tlsConfiguration: tlsConfiguration,
                    redirectConfiguration: .disallow,
                    timeout: .init(connect: TimeAmount(connectTimeout)),
                    decompression: .enabled(limit: .ratio(maximumInflation)))
                configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(
                    1, maximumConnectionsPerHost)
                // Or refused and unknown hosts and failed handshakes are tried until the connect timeout is over.
                configuration.connectionPool.retryConnectionEstablishment = false
                // On Apple's platforms, a device without a network says so at once.
                configuration.networkFrameworkWaitForConnectivity = false
                configuration.httpVersion = httpVersion == .automatic ? .automatic : .http1Only
                return configuration
            }
        }

        /// A client, which is shut down with the last request that uses it, where it is ours.
        final class Connections: Sendable {
            let client: HTTPClient
            let decodesContent: Bool
            private let isOwned: Bool

            init(_ client: HTTPClient, isOwned: Bool, decodesContent: Bool) {
                self.client = client
                self.isOwned = isOwned
                self.decodesContent = decodesContent
            }

            deinit {
                // A client must not go without; one that was shut down before says so, and nobody needs to know.
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
