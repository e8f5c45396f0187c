public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Stands in for a client in tests of what depends on one: answers are values, and nothing is sent or decoded.
///
/// ```swift
/// let client = MockAPIClient()
/// client.when(Profile()).answer(User(name: "Ada"))
/// client.when(ArticleEndpoint.all).answer([Article(id: 1)]).fail(with: NetworkError.offline)
/// let model = ArticlesModel(client: client)
/// // …
/// #expect(client.calls.map(\.description) == ["GET /articles", "GET /articles"])
/// ```
///
/// An endpoint is known by its method, path and query. A call that nobody has said an answer for fails with
/// ``UnexpectedRequest``, which names it and lists what there are answers to. Where several answers fit a call, those that
/// were said last count, so that a test can replace what its setup has said.
public final class MockAPIClient: APIClient {
    /// A call that was made.
    public struct Call: Sendable, CustomStringConvertible {
        /// What was called; cast it to your own type to look into it.
        public let endpoint: any Endpoint
        /// Its number among all, from 1.
        public let number: Int

        /// Method, path and query: `GET /articles?page=2`.
        public var description: String { MockAPIClient.name(of: endpoint) }
    }

    private struct State {
        var routes: [MockRoute] = []
        var calls: [Call] = []
        var unexpected: [Call] = []
    }

    private let state = Guarded(State())

    /// A client without answers.
    public init() {}

    /// Every call so far, in the order in which they came.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The calls so far to an endpoint, by method, path and query.
    public func calls(to endpoint: some Endpoint) -> [Call] {
        calls.filter { $0.description == Self.name(of: endpoint) }
    }

    /// The calls so far that nobody had said an answer for.
    public var unexpectedCalls: [Call] { state.withLock { $0.unexpected } }

    /// Answers with the value that was said for the endpoint.
    public func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        let answer = try await answer(to: endpoint, monitor)
        if type == Empty.self, let empty = Empty() as? Value { return answer.response(empty) }
        guard let value = answer.value as? Value else {
            throw answer.mismatch(with: "\(type)", for: Self.failed(endpoint))
        }
        return answer.response(value)
    }

    /// Answers with the bytes that were said for the endpoint, or with the value as JSON.
    public func data(
        for endpoint: any Endpoint, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Data> {
        let answer = try await answer(to: endpoint, monitor)
        if let data = answer.value as? Data { return answer.response(data) }
        guard let value = answer.value as? any Encodable, let data = try? JSONEncoder.martlet.encode(value) else {
            throw answer.mismatch(with: "Data", for: Self.failed(endpoint))
        }
        return answer.response(data)
    }

    private func answer(to endpoint: any Endpoint, _ monitor: TransferMonitor?) async throws(NetworkError) -> MockAnswer
    {
        let (call, routes) = state.withLock { state in
            let call = Call(endpoint: endpoint, number: state.calls.count + 1)
            state.calls.append(call)
            return (call, state.routes)
        }
        let pass = monitor?.start(attempt: 1) ?? 0
        defer { monitor?.finish() }
        do {
            try Task.checkCancellation()
            guard let route = routes.last(where: { $0.matches(endpoint) }) else {
                throw UnexpectedRequest(call.description, expected: routes.map(\.description))
            }
            let answer = try await route.answer(to: endpoint) { sent, total in
                monitor?.send(TransferCount(completed: sent, total: total), in: pass)
            }
            try Task.checkCancellation()
            if let monitor, let length = monitor.sent.total ?? endpoint.body?.lengthWhenSent {
                monitor.send(TransferCount(completed: length, total: length), in: pass)
            }
            return answer
        } catch let error as NetworkError {
            throw error
        } catch is CancellationError {
            throw .cancelled(Self.failed(endpoint))
        } catch {
            if error is UnexpectedRequest { state.withLock { $0.unexpected.append(call) } }
            throw .transport(Self.failed(endpoint), error)
        }
    }

    func add(_ route: MockRoute) {
        state.withLock { $0.routes.append(route) }
    }

    static func name(of endpoint: any Endpoint) -> String {
        "\(endpoint.method) \(endpoint.path)" + (endpoint.query.isEmpty ? "" : "?\(endpoint.query.encoded)")
    }

    static func failed(_ endpoint: any Endpoint) -> FailedCall {
        FailedCall(method: endpoint.method.rawValue, url: endpoint.path, attempts: 1)
    }
}

/// A value with what comes with it.
struct MockAnswer: Sendable {
    let value: any Sendable
    let head: HTTPResponse

    func response<Value: Sendable>(_ value: Value) -> NetworkResponse<Value> {
        NetworkResponse(value: value, head: head, timings: .init(total: .zero, lastAttempt: .zero))
    }

    func mismatch(with type: String, for call: FailedCall) -> NetworkError {
        let reason = "the test answers with a \(Swift.type(of: value))"
        return .decoding(
            call,
            DecodingFailure(
                type: type, codingPath: "", reason: reason, answer: ServerAnswer(head: head, body: Data())))
    }
}
