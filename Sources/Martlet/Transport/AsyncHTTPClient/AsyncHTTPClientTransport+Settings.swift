#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import HTTPTypes
    internal import NIOCore
    internal import NIOHTTPCompression
    internal import NIOPosix
    internal import NIOSSL

    extension AsyncHTTPClientTransport {
        /// The settings of the transport, from which each of its clients is configured.
        struct Settings: Sendable {
            var tls = TLSSettings.system
            var proxies: ProxyRules?
            var allowsHTTP2 = true
            var maximumConnectionsPerHost = 8
            /// Less than the default of ``NetworkConfig/timeout``, so that a call that finds no connection says so.
            var connectTimeout = Duration.seconds(20)
            var maximumInflation = 200
            private var tlsConfiguration = TLSConfiguration.martlet

            /// Creates the default settings, which need no check.
            init() {}

            /// - Throws: An error if the certificates, keys or addresses cannot be used.
            init(_ tls: TLSSettings, _ proxy: ProxySettings?) throws(TransportSettingsError) {
                self.tls = tls
                self.tlsConfiguration = try TLSConfiguration(tls)
                self.proxies = try proxy?.rules()
            }

            /// Whether all requests use the same client, whatever their host.
            var isUniform: Bool { tls.pins.isEmpty && proxies == nil }

            func makeConnections(_ pinned: PinnedHost?, _ proxy: ProxyServer?) -> Connections {
                let opened = OpenedConnections()
                var configuration = opened.counted(in: configuration)
                if let pinned { configuration.require(pinned) }
                configuration.proxy = proxy.map(HTTPClient.Configuration.Proxy.init)
                // Network.framework, which is the default on Apple platforms, does not show the server's certificate,
                // and does not support all TLS settings.
                let client =
                    tls.isDefault
                    ? HTTPClient(configuration: configuration)
                    : HTTPClient(
                        eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
                        configuration: configuration)
                return Connections(client, isOwned: true, decodesContent: true, opened: opened)
            }

            private var configuration: HTTPClient.Configuration {
                var configuration = HTTPClient.Configuration(
                    tlsConfiguration: tlsConfiguration,
                    redirectConfiguration: .disallow,
                    timeout: .init(connect: TimeAmount(connectTimeout)),
                    decompression: .enabled(limit: .ratio(min(max(1, maximumInflation), 1_000_000))))
                configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = maximumConnectionsPerHost
                // By default, refused connections, unknown hosts and failed handshakes are retried until the connect
                // timeout.
                configuration.connectionPool.retryConnectionEstablishment = false
                // With `false`, a request from an Apple device without a network fails at once.
                configuration.networkFrameworkWaitForConnectivity = false
                configuration.httpVersion = allowsHTTP2 ? .automatic : .http1Only
                // A span would carry the whole URL, with the secrets in it. It also costs time without a tracer.
                configuration.tracing.tracer = nil
                configuration.refuseInvalidStatuses()
                return configuration
            }
        }

        /// The clients of a transport with pinned hosts or a proxy.
        ///
        /// An `HTTPClient` has one proxy for all hosts, and does not name the host of a connection when its certificate
        /// is checked. Each pair of pinned entry and proxy therefore has a client of its own, created when it is first
        /// needed.
        final class Routes: Sendable {
            private struct Route: Hashable {
                var pinned: PinnedHost?
                var proxy: ProxyServer?
            }

            private struct State {
                var clients: [Route: Connections] = [:]
                var isShutDown = false
            }

            private let settings: Settings
            private let base: Connections
            private let state = Locked(State())

            /// - Parameter base: The client for hosts without pins and proxy.
            init(_ settings: Settings, base: Connections) {
                self.settings = settings
                self.base = base
            }

            /// The client for a request.
            /// - Throws: An error if the host is written in a way that could evade its pins.
            func connections(for request: HTTPRequest) throws(TransportError) -> Connections {
                let isSecure = request.scheme == "https"
                guard let place = HostAndPort(request.authority ?? "", defaultPort: isSecure ? 443 : 80) else {
                    throw .invalidRequest("its host has characters that hosts do not have")
                }
                let route = Route(
                    pinned: isSecure ? settings.tls.pinned(place.host) : nil,
                    proxy: settings.proxies?.server(scheme: request.scheme ?? "", host: place.host, port: place.port))
                guard route.pinned != nil || route.proxy != nil else { return base }
                return state.withLock { state in
                    // The base has been shut down too, and reports it.
                    guard !state.isShutDown else { return base }
                    if let connections = state.clients[route] { return connections }
                    let connections = settings.makeConnections(route.pinned, route.proxy)
                    state.clients[route] = connections
                    return connections
                }
            }

            func shutdown() async throws {
                let clients = state.withLock { state in
                    defer { (state.clients, state.isShutDown) = ([:], true) }
                    return state.clients.values
                }
                for connections in clients { try await connections.shutdown() }
            }
        }
    }

    extension HTTPClient.Configuration.Proxy {
        fileprivate init(_ server: ProxyServer) {
            switch server.kind {
            case .socks5:
                self = .socksServer(host: server.host, port: server.port)
            case .http:
                let authorization = server.user.map { user in
                    HTTPClient.Authorization.basic(username: user, password: server.password?.reveal() ?? "")
                }
                self = .server(host: server.host, port: server.port, authorization: authorization)
            }
        }
    }
#endif
