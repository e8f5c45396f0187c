#if !os(Linux) || URLSession || !AsyncHTTPClient
    public import HTTPTypes

    #if canImport(FoundationNetworking)
        internal import Foundation
        public import FoundationNetworking
    #else
        public import Foundation
    #endif

    /// Sends requests with `URLSession`: the transport on Apple's platforms.
    ///
    /// Whatever the configuration says, nothing is cached or stored, no cookies are kept and no redirects followed, and
    /// an answer of 401 is an answer: Martlet does what is right with them. The time limits are Martlet's as well.
    ///
    /// - `URLSession` hands out repeated fields of an answer as one, joined by commas; so comes `Set-Cookie`.
    /// - To a `POST` without a `Content-Type` it may add one of its own. Martlet sets one where there is a body.
    ///
    /// On Linux it is the second choice, after `AsyncHTTPClientTransport`:
    /// - Its memory grows with what an answer holds that is not read yet.
    /// - A body's stream is read to its end before the first byte is sent; one of more than a megabyte waits in a temporary
    ///   file. That has a name only from when it is whole until its first bytes go out, or from the start where the file
    ///   system has no unnamed files; what a process leaves that is killed in between is deleted by the next upload of
    ///   that kind (not where the file system has no locks). The body's length is known then, so that it is never sent in
    ///   chunks.
    /// - A `GET` can have no body.
    /// - The body of a 3xx without a `Location` is lost.
    /// - A server that closes the connection within the head of its answer ends the process (Foundation 6.3). So may one
    ///   that closes it while a body of more than a megabyte goes out, and cancelling such an upload.
    /// - Certificates of one's own and proxies cannot be set.
    public final class URLSessionTransport: Transport {
        /// The transport of the whole process.
        public static let shared = URLSessionTransport()

        private let connections: Connections
        private let lane = Locked<URLSessionTransport?>(nil)

        /// A transport with a session of its own, which is invalidated when the transport and the bodies that it
        /// returned are released.
        /// - Parameter configuration: What the session starts from, such as its limit of connections to one host. What
        ///   it says about cookies, caches, stored credentials and time limits is overridden.
        public init(configuration: URLSessionConfiguration = .ephemeral) {
            self.connections = Connections(configuration)
        }

        /// Sends the request and returns once the head of the answer is there.
        public func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
            let urlRequest = try URLRequest(request)
            let exchange = URLSessionExchange(
                host: urlRequest.url?.host ?? "", isHead: request.method == .head)
            let upload = try await URLSessionUpload(body, request: urlRequest, session: connections.session)
            let head = try await withTaskCancellationHandler {
                try await exchange.start(upload, on: connections)
            } onCancel: {
                exchange.cancel()
            }
            let hold = Hold(exchange, connections)
            return TransportResponse(head: head, body: .onePass { { try await hold.next() } })
        }

        /// The limit of connections for plain `http`. Whether `https` comes over HTTP/2, where one connection takes many
        /// requests, is not known beforehand.
        public func parallelRequests(to origin: Origin) -> Int? {
            origin.scheme == "http" ? max(1, connections.session.configuration.httpMaximumConnectionsPerHost) : nil
        }

        /// On Linux it waits, for up to a second; of Apple's sessions nothing is documented.
        public var waitsForContinue: Bool { URLSessionUpload.waitsForContinue }

        /// A second transport with the same configuration, so that its requests never wait for a connection that these
        /// hold. It is made once.
        public func makeLane() -> any Transport {
            lane.withLock { lane in
                if let lane { return lane }
                let made = URLSessionTransport(configuration: connections.session.configuration)
                lane = made
                return made
            }
        }

        /// What a body holds on to. Letting go of it ends the exchange.
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

    extension URLSessionTransport {
        /// A session, invalidated with the last exchange that uses it, and the exchanges under way in it.
        final class Connections: Sendable {
            let session: URLSession
            let exchanges: URLSessionExchanges

            init(_ configuration: URLSessionConfiguration) {
                // The session takes a copy; this one keeps ours from changing the caller's.
                let configuration = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
                configuration.httpCookieStorage = nil
                configuration.httpShouldSetCookies = false
                configuration.httpCookieAcceptPolicy = .never
                // On Linux, cancelling a task of a session with a cache may also end the process.
                configuration.urlCache = nil
                configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
                configuration.urlCredentialStorage = nil
                // The core ends what takes too long. A week is the longest that Apple's sessions wait by themselves.
                configuration.timeoutIntervalForRequest = 7 * 24 * 60 * 60
                configuration.timeoutIntervalForResource = 7 * 24 * 60 * 60
                URLSessionUpload.adjust(configuration)
                // The callbacks must come one after the other, in order.
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = 1
                self.exchanges = URLSessionExchanges()
                self.session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: queue)
            }

            deinit {
                // Or the session would hold its delegate, and its connections, for ever.
                session.finishTasksAndInvalidate()
            }
        }
    }

    extension URLRequest {
        fileprivate init(_ request: HTTPRequest) throws(TransportError) {
            guard let url = URL(string: try request.target()), url.host != nil else {
                throw .invalidRequest("its URL is not valid")
            }
            self.init(url: url)
            self.httpMethod = request.method.rawValue
            self.httpShouldHandleCookies = false
            for field in request.headerFields {
                // Joins repeats, of a cookie in its own way; setting a name again to the same value changes nothing.
                self.setValue(request.headerFields[field.name], forHTTPHeaderField: field.name.rawName)
            }
        }
    }
#endif
