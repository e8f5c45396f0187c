#if !os(Linux) || URLSession || !AsyncHTTPClient
    public import HTTPTypes

    #if canImport(FoundationNetworking)
        internal import Foundation
        public import FoundationNetworking
    #else
        public import Foundation
    #endif

    /// Sends requests with `URLSession`. It is the default on Apple platforms. On Linux it is the second choice,
    /// because there a server that closes the connection within the head of its response terminates the process.
    ///
    /// It does not cache, store cookies or credentials, or follow redirects, whatever the configuration says. Martlet
    /// itself follows redirects and enforces the time limits. A 401 is returned as a response.
    ///
    /// - `URLSession` joins repeated fields of a response with commas, even `Set-Cookie`.
    /// - `URLSession` may add a `Content-Type` to a `POST` without one. Martlet sets one if there is a body.
    /// - On Apple platforms, `URLSession` withholds the head of some responses until 512 bytes of the body have arrived
    ///   (<doc:UploadsAndDownloads#Configure-the-server-of-a-stream>).
    /// - `URLSession` does not say which content codings it has decoded. It always decodes gzip, deflate and Brotli.
    ///   iOS 26, macOS 26 and most builds of libcurl also decode Zstandard. To find out whether that has happened, the
    ///   transport waits for the first four bytes before it returns the head.
    ///
    /// On Linux, prefer `AsyncHTTPClientTransport`. There, `URLSessionTransport` has these limits:
    /// - It buffers the part of a response that has not been read yet.
    /// - It reads a streamed body completely before it sends the first byte, and stores a body of more than a megabyte
    ///   in a temporary file. That file has a name only from its completion until the first bytes are sent, or always
    ///   on file systems without anonymous files. The next such upload deletes the stale files of killed processes
    ///   (except on file systems without locks). The length of a body is always known, so no body is sent in chunks.
    /// - A `GET` cannot have a body.
    /// - The body of a 3xx without a `Location` is lost.
    /// - A server that closes the connection within the head of its response terminates the process, up to Foundation
    ///   6.3 ([swift-corelibs-foundation #5286](https://github.com/swiftlang/swift-corelibs-foundation/pull/5286) fixes
    ///   it for later versions). The failing check is inside `URLSession`, out of reach of its delegates and of this
    ///   transport. A server that closes the connection during the upload of more than a megabyte may terminate the
    ///   process too, and so may cancelling such an upload.
    /// - It takes no ``TLSSettings`` and no ``ProxySettings``. libcurl, which Foundation uses, obeys the environment's
    ///   proxy variables.
    public final class URLSessionTransport: Transport {
        /// The shared transport of the process.
        public static let shared = URLSessionTransport()

        private let connections: Connections
        /// The reason why nothing can be sent; `nil` if the configuration is usable.
        private let refusal: TransportError?
        private let isolated = Locked<URLSessionTransport?>(nil)
        /// The time limits of exchanges in memory.
        private let limits = TimeLimits(time: .system)

        /// Creates a transport with its own session, which is invalidated when the transport and all response bodies
        /// have been released.
        /// - Parameter configuration: The configuration of the session, such as its limit of connections to one host.
        ///   The transport overrides its settings for cookies, caches, credentials and time limits. With the
        ///   configuration of a background session every request fails with ``TransportError/invalidRequest(_:)``,
        ///   because such a session raises an exception for a body in memory.
        public init(configuration: URLSessionConfiguration = .ephemeral) {
            let isBackground = configuration.identifier != nil
            self.connections = Connections(isBackground ? .ephemeral : configuration, trust: nil)
            self.refusal = isBackground ? .invalidRequest(Self.backgroundRefusal) : nil
        }

        /// Creates a transport with its own certificates, pins or proxy.
        ///
        /// - On Linux, Foundation can set none of them, so each setting other than ``TLSSettings/system`` throws
        ///   ``TransportSettingsError/unsupported(_:)``. Use `AsyncHTTPClientTransport` there.
        /// - On Apple platforms, a proxy needs iOS 17, macOS 14, tvOS 17 or watchOS 10. Without one, the proxy of the
        ///   system is used.
        /// - App Transport Security still applies.
        /// - Parameters:
        ///   - configuration: The configuration of the session.
        ///   - tls: The servers to trust, and the identity of the client.
        ///   - proxy: The proxy; `nil` for the configuration's own.
        /// - Throws: ``TransportSettingsError`` if a certificate, key, pin or address cannot be used, or if the
        ///   platform does not support a setting.
        public init(
            configuration: URLSessionConfiguration = .ephemeral, tls: TLSSettings, proxy: ProxySettings? = nil
        ) throws(TransportSettingsError) {
            guard configuration.identifier == nil else { throw .unsupported(Self.backgroundRefusal) }
            try tls.validate()
            let configuration = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
            let trust = try URLSessionTrust(tls, proxy, configuring: configuration)
            self.connections = Connections(configuration, trust: trust)
            self.refusal = nil
        }

        private static let backgroundRefusal =
            "URLSessionTransport cannot use the configuration of a background session. "
            + "Use a default or ephemeral one, and MartletBackground for transfers in the background."

        private init(isolatedFrom connections: Connections) {
            self.connections = Connections(
                connections.session.configuration, trust: connections.exchanges.trust)
            self.refusal = nil
        }

        /// Sends the request, and returns when the head of the response has arrived.
        public func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            if let refusal { throw refusal }
            let urlRequest = try URLRequest(request)
            let exchange = URLSessionExchange(
                host: urlRequest.url?.host ?? "", isHead: request.method == .head, recorder: .current)
            let upload = try await URLSessionUpload(body, request: urlRequest, session: connections.session)
            let head = try await withTaskCancellationHandler {
                try await exchange.start(upload, on: connections)
            } onCancel: {
                exchange.cancel()
            }
            let hold = Hold(exchange, connections)
            return (head: head, body: .singlePass { { try await hold.next() } })
        }

        func exchange(
            _ request: HTTPRequest, body: Data?, upTo maximumCount: Int, within limit: Duration
        ) async throws -> TransportResponse {
            if let refusal { throw refusal }
            // Let calls whose responses have arrived continue first, so that their next requests go out together.
            // Otherwise each request would wake the session's thread separately.
            await Task.yield()
            let urlRequest = try URLRequest(request)
            let exchange = URLSessionExchange(
                host: urlRequest.url?.host ?? "", isHead: request.method == .head, recorder: .current)
            let upload = try await URLSessionUpload(
                body.map { OutgoingBody($0) }, request: urlRequest, session: connections.session)
            let cancelLimit = limits.schedule(after: limit) { exchange.fail(DeadlineError()) }
            defer { cancelLimit() }
            return try await withTaskCancellationHandler {
                try await exchange.run(upload, on: connections, upTo: maximumCount)
            } onCancel: {
                exchange.cancel()
            }
        }

        /// The limit of connections for plain `http`; `nil` for `https`, because HTTP/2 may be used, where one
        /// connection carries many requests.
        public func parallelRequests(to origin: Origin) -> Int? {
            origin.scheme == "http" ? max(1, connections.session.configuration.httpMaximumConnectionsPerHost) : nil
        }

        /// `true` on Linux, where `URLSession` waits for up to a second. `false` on Apple platforms, where the behavior
        /// is not documented.
        public var waitsForContinue: Bool { URLSessionUpload.waitsForContinue }

        /// A second transport with the same configuration and its own connections. It is created once.
        public func makeIsolatedTransport() -> any Transport {
            // An isolated transport would send nothing either.
            guard refusal == nil else { return self }
            return isolated.withLock { isolated in
                if let isolated { return isolated }
                let transport = URLSessionTransport(isolatedFrom: connections)
                isolated = transport
                return transport
            }
        }

        /// Ends the exchange when the body of the response, which retains this object, is released.
        private final class Hold: Sendable {
            private let exchange: URLSessionExchange
            private let connections: Connections

            init(_ exchange: URLSessionExchange, _ connections: Connections) {
                self.exchange = exchange
                self.connections = connections
            }

            deinit { exchange.cancel() }

            func next() async throws -> Data? {
                try await withTaskCancellationHandler {
                    try await exchange.next()
                } onCancel: {
                    exchange.cancel()
                }
            }
        }
    }

    extension URLSessionTransport: DeadlineTransport {}

    extension URLSessionTransport {
        /// A session and its exchanges. It is invalidated with the last exchange that uses it.
        final class Connections: Sendable {
            let session: URLSession
            let exchanges: URLSessionExchanges

            init(_ configuration: URLSessionConfiguration, trust: URLSessionTrust?) {
                // The session copies the configuration, and this copy protects the caller's.
                let configuration = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
                configuration.httpCookieStorage = nil
                configuration.httpShouldSetCookies = false
                configuration.httpCookieAcceptPolicy = .never
                // On Linux, cancelling a task of a session with a cache may terminate the process.
                configuration.urlCache = nil
                configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
                configuration.urlCredentialStorage = nil
                // Martlet enforces the time limits. A week is the longest limit of Apple's sessions.
                configuration.timeoutIntervalForRequest = 7 * 24 * 60 * 60
                configuration.timeoutIntervalForResource = 7 * 24 * 60 * 60
                URLSessionUpload.adjust(configuration)
                self.exchanges = URLSessionExchanges(trust)
                self.session = URLSession(
                    configuration: configuration, delegate: exchanges,
                    delegateQueue: URLSessionUpload.makeCallbackQueue())
            }

            deinit {
                // Otherwise the session retains its delegate and its connections forever.
                session.finishTasksAndInvalidate()
            }
        }
    }

    extension URLRequest {
        package init(_ request: HTTPRequest) throws(TransportError) {
            guard let url = URL(string: try request.target()), url.host != nil else {
                throw .invalidRequest("its URL is not valid")
            }
            self.init(url: url)
            if request.method != .get { self.httpMethod = request.method.rawValue }
            self.httpShouldHandleCookies = false
            let fields = request.headerFields
            var values: [HTTPField.Name: String] = [:]
            for field in fields where values.updateValue(field.value, forKey: field.name) != nil {
                values[field.name] = fields[field.name]
            }
            // Set all fields at once: on Linux, setting one field costs more than creating the request.
            self.allHTTPHeaderFields = Dictionary(uniqueKeysWithValues: values.map { ($0.rawName, $1) })
        }
    }
#endif
