public import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Answers requests as a test says, and remembers them.
///
/// ```swift
/// let transport = StubTransport()
/// transport.when(ArticleEndpoint.all).answer(.json([Article(id: 1, title: "On the wing")]))
/// transport.when(.post, "/auth/refresh").answer(.tokens(.fresh(2)))
/// let client = NetworkClient(baseURL: "https://api.example.com", transport: transport)
/// ```
///
/// A request that nobody has said an answer for fails with ``UnexpectedRequest``, which names it and lists what there are
/// answers to. Where several routes fit a request, the one that was said last is asked, so that a test can replace what its
/// setup has said.
public final class StubTransport: Transport {
    /// Decides on an answer; it may wait, and may throw what a transport throws.
    public typealias Handler = @Sendable (Request) async throws -> Answer

    private struct State {
        var routes: [Route] = []
        var requests: [Request] = []
        var unexpected: [Request] = []
    }

    private let baseURL: BaseURL
    private let time: (any TimeSource)?
    private let handler: Handler?
    private let state = Guarded(State())

    /// A transport that answers what its routes say, and nothing else. See ``when(_:)``.
    /// - Parameters:
    ///   - baseURL: The client's base URL, below whose path those of the routes are.
    ///   - time: The clock of delays; ``Route/wait(_:)`` needs one.
    public init(baseURL: BaseURL = "https://api.example.com", time: (any TimeSource)? = nil) {
        self.baseURL = baseURL
        self.time = time
        self.handler = nil
    }

    /// A transport that answers as the closure says, but for what routes say that are added.
    /// - Parameters:
    ///   - baseURL: The client's base URL, below whose path those of the routes are.
    ///   - time: The clock of delays; ``Route/wait(_:)`` needs one.
    ///   - handler: Decides on an answer.
    public init(
        baseURL: BaseURL = "https://api.example.com", time: (any TimeSource)? = nil, _ handler: @escaping Handler
    ) {
        self.baseURL = baseURL
        self.time = time
        self.handler = handler
    }

    /// Every request so far, in the order in which they came.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The requests so far whose path is this one, the query left out.
    public func requests(to path: String) -> [Request] {
        requests.filter { $0.path.prefix { $0 != "?" } == path }
    }

    /// The requests so far that nobody had said an answer for.
    public var unexpectedRequests: [Request] { state.withLock { $0.unexpected } }

    /// Reads the body, remembers the request and answers it.
    public func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
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
        let asked = state.withLock { state in
            let asked = Request(request: request, body: bytes, number: state.requests.count + 1)
            state.requests.append(asked)
            return asked
        }
        try Task.checkCancellation()
        let answer = try await answer(asked)
        try Task.checkCancellation()
        return try answer.response()
    }

    /// What this stub answers to a request of another one.
    public func answer(_ request: Request) async throws -> Answer {
        let routes = state.withLock { $0.routes }
        do {
            if let route = routes.last(where: { $0.matches(request) }) {
                return try await route.answer(to: request, time)
            }
            if let handler { return try await handler(request) }
            throw UnexpectedRequest(request.description, expected: routes.map(\.description))
        } catch let error as UnexpectedRequest {
            state.withLock { $0.unexpected.append(request) }
            throw error
        }
    }
}

// MARK: - Routes

extension StubTransport {
    /// What is answered to an endpoint: to requests of its method and path that have its query, and maybe more in the query.
    public func when(_ endpoint: some Endpoint) -> Route {
        when(endpoint.method, endpoint.path, query: endpoint.query)
    }

    /// What is answered to a method and a path.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below the base URL.
    ///   - query: What the query must have, in whatever order; it may have more.
    public func when(_ method: HTTPRequest.Method, _ path: String, query: Query = []) -> Route {
        guard let target = try? baseURL.target(of: path, query: query) else {
            return add(Route("\(method) \(path), which is no path") { _ in false })
        }
        let (wantedPath, wantedItems) = Self.parts(of: target)
        return add(
            Route("\(method) \(target)") { request in
                let (path, items) = Self.parts(of: request.path)
                return request.method == method && path == wantedPath && wantedItems.allSatisfy(items.contains)
            })
    }

    /// What is answered to requests for which a closure says yes.
    ///
    /// ```swift
    /// transport.when("a picture") { $0.path.hasPrefix("/images/") }.answer(.status(404))
    /// ```
    /// - Parameters:
    ///   - description: What they are called in ``UnexpectedRequest``.
    ///   - matches: Whether a request is one of them.
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
