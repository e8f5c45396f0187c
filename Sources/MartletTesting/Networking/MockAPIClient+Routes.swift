public import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension MockAPIClient {
    /// Adds a route for an endpoint. The caller must request the type of the value that the route returns.
    public func when<Target: APIEndpoint>(_ endpoint: Target) -> Route<Target, any Sendable> {
        add(endpoint)
    }

    /// Adds a route for a request.
    public func when<Target: APIRequest>(_ request: Target) -> Route<Target, Target.Response> {
        add(request)
    }

    /// Adds a route for all endpoints of a type.
    ///
    /// ```swift
    /// client.when(ArticleEndpoint.self).respond { endpoint in
    ///     switch endpoint {
    ///     case .all: [first, second]
    ///     case .one(let id): Article(id: id)
    ///     }
    /// }
    /// ```
    public func when<Target: APIEndpoint>(_ type: Target.Type) -> Route<Target, any Sendable> {
        add(type)
    }

    /// Adds a route for all requests of a type.
    public func when<Target: APIRequest>(_ type: Target.Type) -> Route<Target, Target.Response> {
        add(type)
    }

    private func add<Target: Endpoint, Value: Sendable>(_ endpoint: Target) -> Route<Target, Value> {
        let name = Self.name(of: endpoint)
        let route = MockRoute(name) { Self.name(of: $0) == name }
        add(route)
        // An endpoint of another type may have the same method, path and query.
        return Route(route) { $0 as? Target ?? endpoint }
    }

    private func add<Target: Endpoint, Value: Sendable>(_ type: Target.Type) -> Route<Target, Value> {
        let route = MockRoute("any \(type)") { $0 is Target }
        add(route)
        return Route(route) { $0 as? Target }
    }

    /// The responses to matching calls, in the order in which the test adds them. Each response is used once, the last
    /// one repeatedly.
    public struct Route<Target: Endpoint, Value: Sendable>: Sendable {
        private let route: MockRoute
        private let target: @Sendable (any Endpoint) -> Target?

        fileprivate init(_ route: MockRoute, _ target: @escaping @Sendable (any Endpoint) -> Target?) {
            self.route = route
            self.target = target
        }

        /// The number of calls that the route has received so far.
        public var calls: Int { route.count }

        /// Adds a response.
        /// - Parameters:
        ///   - value: The value that the caller gets.
        ///   - status: The status code of the response.
        ///   - headers: The header fields of the response.
        @discardableResult
        public func respond(_ value: Value, status: Int = 200, headers: HTTPFields = [:]) -> Route {
            let head = HTTPResponse(status: .init(code: status), headerFields: headers)
            route.responses.append { _ in MockResponse(value: value, head: head) }
            return self
        }

        /// Adds a response that a closure makes. The closure may suspend, and may throw a `NetworkError`.
        @discardableResult
        public func respond(_ handler: @escaping @Sendable (Target) async throws -> Value) -> Route {
            route.responses.append { [target, route] endpoint in
                guard let endpoint = target(endpoint) else {
                    throw UnexpectedRequestError(
                        MockAPIClient.name(of: endpoint), route: route.description,
                        reason: "its handler expects an endpoint of type \(Target.self)")
                }
                return MockResponse(value: try await handler(endpoint), head: HTTPResponse(status: .ok))
            }
            return self
        }

        /// Adds a failure: `fail(with: NetworkError.offline)`, `fail { .timedOut($0, after: .seconds(30)) }`.
        /// - Parameter error: Makes the error from the call's description.
        @discardableResult
        public func fail(with error: @escaping @Sendable (CallDescription) -> NetworkError) -> Route {
            route.responses.append { throw error(MockAPIClient.failed($0)) }
            return self
        }

        /// Adds a failure.
        @discardableResult
        public func fail(with error: NetworkError) -> Route {
            fail { _ in error }
        }

        /// Adds a failure with a status code that the endpoint does not accept: `unauthorized` for 401,
        /// `unacceptableStatus` for any other.
        /// - Parameters:
        ///   - status: The status code.
        ///   - body: The body of the response.
        @discardableResult
        public func fail(status: Int, body: String = "") -> Route {
            let response = ServerResponse(head: HTTPResponse(status: .init(code: status)), body: Data(body.utf8))
            return fail { call in status == 401 ? .unauthorized(call, response) : .unacceptableStatus(call, response) }
        }

        /// Holds the response that is added next until a gate is opened. Cancelling the call ends the wait.
        public func hold(at gate: Gate) -> Route {
            route.responses.pause { _ in try await gate.passUnlessCancelled() }
            return self
        }

        /// Reports upload progress to the call's `TransferMonitor` before the response that is added next.
        /// - Parameters:
        ///   - sent: The number of bytes that have been sent.
        ///   - total: The size of the body in bytes. When the response arrives, all of them are reported as sent.
        public func report(sent: Int64, of total: Int64) -> Route {
            route.responses.pause { report in report(sent, total) }
            return self
        }
    }
}

extension MockAPIClient.Route where Value == any Sendable {
    /// Adds an empty response, for callers that expect no value.
    @discardableResult
    public func respond() -> Self { respond(NoContent()) }
}

/// A route without its types, as the client stores it.
final class MockRoute: Sendable {
    let description: String
    let matches: @Sendable (any Endpoint) -> Bool
    /// Reports upload progress.
    typealias Report = (_ sent: Int64, _ total: Int64) -> Void
    let responses = ResponseSequence<Report, @Sendable (any Endpoint) async throws -> MockResponse>()
    private let callCount = Locked(0)

    init(_ description: String, _ matches: @escaping @Sendable (any Endpoint) -> Bool) {
        self.description = description
        self.matches = matches
    }

    var count: Int { callCount.withLock { $0 } }

    func respond(to endpoint: any Endpoint, report: @escaping Report) async throws -> MockResponse {
        callCount.withLock { $0 += 1 }
        guard let entry = responses.next() else {
            throw UnexpectedRequestError(
                MockAPIClient.name(of: endpoint), route: description,
                reason: "it has no response; add one with respond(_:)")
        }
        for pause in entry.pauses { try await pause(report) }
        return try await entry.response(endpoint)
    }
}
