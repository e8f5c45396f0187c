public import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension MockAPIClient {
    /// What is answered to an endpoint. The caller must ask for the type of the value that is said here.
    public func when<Asked: APIEndpoint>(_ endpoint: Asked) -> Route<Asked, any Sendable> {
        add(endpoint)
    }

    /// What is answered to a request.
    public func when<Asked: APIRequest>(_ request: Asked) -> Route<Asked, Asked.Response> {
        add(request)
    }

    /// What is answered to every endpoint of a type.
    ///
    /// ```swift
    /// client.when(ArticleEndpoint.self).answer { endpoint in
    ///     switch endpoint {
    ///     case .all: [first, second]
    ///     case .one(let id): Article(id: id)
    ///     }
    /// }
    /// ```
    public func when<Asked: APIEndpoint>(_ type: Asked.Type) -> Route<Asked, any Sendable> {
        add(type)
    }

    /// What is answered to every request of a type.
    public func when<Asked: APIRequest>(_ type: Asked.Type) -> Route<Asked, Asked.Response> {
        add(type)
    }

    private func add<Asked: Endpoint, Value: Sendable>(_ endpoint: Asked) -> Route<Asked, Value> {
        let name = Self.name(of: endpoint)
        let route = MockRoute(name) { Self.name(of: $0) == name }
        add(route)
        // Another type of endpoint may have the same name.
        return Route(route) { $0 as? Asked ?? endpoint }
    }

    private func add<Asked: Endpoint, Value: Sendable>(_ type: Asked.Type) -> Route<Asked, Value> {
        let route = MockRoute("any \(type)") { $0 is Asked }
        add(route)
        return Route(route) { $0 as? Asked }
    }

    /// What is answered to some calls: the answers in the order in which they were said, each once, the last again and again.
    public struct Route<Asked: Endpoint, Value: Sendable>: Sendable {
        private let route: MockRoute
        private let asked: @Sendable (any Endpoint) -> Asked?

        fileprivate init(_ route: MockRoute, _ asked: @escaping @Sendable (any Endpoint) -> Asked?) {
            self.route = route
            self.asked = asked
        }

        /// How many calls have come here so far.
        public var calls: Int { route.count }

        /// Answers the next one.
        /// - Parameters:
        ///   - value: What the caller gets.
        ///   - status: The status that comes with it.
        ///   - headers: The header fields that come with it.
        @discardableResult
        public func answer(_ value: Value, status: Int = 200, headers: HTTPFields = [:]) -> Route {
            let head = HTTPResponse(status: .init(code: status), headerFields: headers)
            route.answers.append { _ in MockAnswer(value: value, head: head) }
            return self
        }

        /// Answers the next one as the closure says; it may wait, and throw a `NetworkError`.
        @discardableResult
        public func answer(_ handler: @escaping @Sendable (Asked) async throws -> Value) -> Route {
            route.answers.append { [asked, route] endpoint in
                guard let endpoint = asked(endpoint) else {
                    throw UnexpectedRequest(
                        MockAPIClient.name(of: endpoint), matching: route.description, lacks: "another type")
                }
                return MockAnswer(value: try await handler(endpoint), head: HTTPResponse(status: .ok))
            }
            return self
        }

        /// Fails the next one: `fail(with: NetworkError.offline)`, `fail { .timedOut($0, after: .seconds(30)) }`.
        /// - Parameter error: Makes the error, given the call.
        @discardableResult
        public func fail(with error: @escaping @Sendable (FailedCall) -> NetworkError) -> Route {
            route.answers.append { throw error(MockAPIClient.failed($0)) }
            return self
        }

        /// Fails the next one.
        @discardableResult
        public func fail(with error: NetworkError) -> Route {
            fail { _ in error }
        }

        /// Fails the next one with a status that the endpoint does not accept: `unauthorized` for 401, `unacceptableStatus` for
        /// any other.
        /// - Parameters:
        ///   - status: The status.
        ///   - body: What the server says to it.
        @discardableResult
        public func fail(status: Int, body: String = "") -> Route {
            let answer = ServerAnswer(head: HTTPResponse(status: .init(code: status)), body: Data(body.utf8))
            return fail { call in status == 401 ? .unauthorized(call, answer) : .unacceptableStatus(call, answer) }
        }

        /// Holds the answer that is said next until a gate is opened. A call that is cancelled does not wait.
        public func hold(at gate: Gate) -> Route {
            route.answers.pause { _ in try await gate.passUnlessCancelled() }
            return self
        }

        /// Tells the call's `TransferMonitor` how much of the body has gone out, before the answer that is said next.
        /// - Parameters:
        ///   - sent: How many bytes.
        ///   - total: How many there are; all of them have gone out when the answer comes.
        public func report(sent: Int64, of total: Int64) -> Route {
            route.answers.pause { report in report(sent, total) }
            return self
        }
    }
}

extension MockAPIClient.Route where Value == any Sendable {
    /// Answers the next one with nothing, for callers that expect nothing.
    @discardableResult
    public func answer() -> Self { answer(Empty()) }
}

/// What is answered to some calls, whatever their types.
final class MockRoute: Sendable {
    let description: String
    let matches: @Sendable (any Endpoint) -> Bool
    /// Tells how many bytes of how many have gone out.
    typealias Report = (_ sent: Int64, _ total: Int64) -> Void
    let answers = AnswerList<Report, @Sendable (any Endpoint) async throws -> MockAnswer>()
    private let seen = Guarded(0)

    init(_ description: String, _ matches: @escaping @Sendable (any Endpoint) -> Bool) {
        self.description = description
        self.matches = matches
    }

    var count: Int { seen.withLock { $0 } }

    func answer(to endpoint: any Endpoint, report: @escaping Report) async throws -> MockAnswer {
        seen.withLock { $0 += 1 }
        guard let turn = answers.next() else {
            throw UnexpectedRequest(MockAPIClient.name(of: endpoint), matching: description, lacks: "none")
        }
        for pause in turn.pauses { try await pause(report) }
        return try await turn.answer(endpoint)
    }
}
