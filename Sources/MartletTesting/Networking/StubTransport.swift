public import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A transport that returns the responses that a test sets up, and records all requests.
///
/// ```swift
/// let transport = StubTransport()
/// transport.when(ArticleEndpoint.all).respond(.json([Article(id: 1, title: "On the wing")]))
/// transport.when(.post, "/auth/refresh").respond(.tokens(.fresh(2)))
/// let client = NetworkClient(baseURL: "https://api.example.com", transport: transport)
/// ```
///
/// A request without a response fails with ``UnexpectedRequestError``. If several routes match a request, the one that
/// was added last responds, so a test can override the routes of its setup.
public final class StubTransport: Transport {
    /// Makes the response to a request. It may suspend, and may throw a `TransportError`.
    public typealias Handler = @Sendable (Request) async throws -> Response

    /// The routes, and the requests received so far.
    private struct State {
        var routes: [Route] = []
        var requests: [Request] = []
        var unexpected: [Request] = []
    }

    private let baseURL: BaseURL
    private let time: (any TimeSource)?
    private let handler: Handler?
    private let state = Locked(State())

    /// Creates a transport that responds only to its routes. Add routes with ``when(_:)``.
    /// - Parameters:
    ///   - baseURL: The client's base URL. The paths of routes are relative to it.
    ///   - time: The clock for delays. ``Route/wait(_:)`` needs one.
    public init(baseURL: BaseURL = "https://api.example.com", time: (any TimeSource)? = nil) {
        self.baseURL = baseURL
        self.time = time
        self.handler = nil
    }

    /// Creates a transport that responds with a closure to all requests that match no route.
    /// - Parameters:
    ///   - baseURL: The client's base URL. The paths of routes are relative to it.
    ///   - time: The clock for delays. ``Route/wait(_:)`` needs one.
    ///   - handler: Makes the response.
    public init(
        baseURL: BaseURL = "https://api.example.com", time: (any TimeSource)? = nil, _ handler: @escaping Handler
    ) {
        self.baseURL = baseURL
        self.time = time
        self.handler = handler
    }

    /// All requests so far, in the order of their arrival.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The requests so far with this path, with any query.
    public func requests(to path: String) -> [Request] {
        requests.filter { $0.path.prefix { $0 != "?" } == path }
    }

    /// The requests so far for which no response was set up.
    public var unexpectedRequests: [Request] { state.withLock { $0.unexpected } }

    /// Reads the body, records the request and returns its response.
    public func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        let bytes: Data
        switch body?.content {
        case .bytes(let data): bytes = data
        case .stream(let stream):
            do {
                bytes = try await stream.collect(upTo: .max)
            } catch {
                throw TransportError.bodyFailed(error)
            }
        case nil: bytes = Data()
        }
        let received = state.withLock { state in
            let received = Request(request: request, body: bytes, number: state.requests.count + 1)
            state.requests.append(received)
            return received
        }
        try Task.checkCancellation()
        let response = try await respond(received)
        try Task.checkCancellation()
        return try response.transportResponse()
    }

    /// Responds to a request that another stub received, so that stubs can be chained.
    public func respond(_ request: Request) async throws -> Response {
        let routes = state.withLock { $0.routes }
        do {
            if let route = routes.last(where: { $0.matches(request) }) {
                return try await route.respond(to: request, time)
            }
            if let handler { return try await handler(request) }
            throw UnexpectedRequestError(request.description, expected: routes.map(\.description))
        } catch let error as UnexpectedRequestError {
            state.withLock { $0.unexpected.append(request) }
            throw error
        }
    }
}

// MARK: - Routes

extension StubTransport {
    /// Adds a route for an endpoint. It matches requests with the endpoint's method and path whose query contains at
    /// least the endpoint's items.
    public func when(_ endpoint: some Endpoint) -> Route {
        when(endpoint.method, endpoint.path, query: endpoint.query)
    }

    /// Adds a route for a method and a path. Interpolated values are encoded as an endpoint encodes them.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the base URL.
    ///   - query: The items that a request's query must contain, in any order. It may contain more.
    public func when(_ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:]) -> Route {
        guard let target = try? baseURL.target(of: path, query: query) else {
            return add(Route("\(method) \(path), which is not a valid path") { _ in false })
        }
        let (wantedPath, wantedItems) = Self.parts(of: target)
        return add(
            Route("\(method) \(target)") { request in
                let (path, items) = Self.parts(of: request.path)
                return request.method == method && path == wantedPath && wantedItems.allSatisfy(items.contains)
            })
    }

    /// Adds a route for the requests that a closure accepts.
    ///
    /// ```swift
    /// transport.when("a picture") { $0.path.hasPrefix("/images/") }.respond(.status(404))
    /// ```
    /// - Parameters:
    ///   - description: The name of the route in ``UnexpectedRequestError``.
    ///   - matches: Returns whether the route matches a request.
    public func when(_ description: String, _ matches: @escaping @Sendable (Request) -> Bool) -> Route {
        add(Route(description, matches))
    }

    private func add(_ route: Route) -> Route {
        state.withLock { $0.routes.append(route) }
        return route
    }

    private static func parts(of target: String) -> (path: Substring, items: [Substring]) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts.first ?? "", parts.count == 2 ? parts[1].split(separator: "&") : [])
    }
}
