public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An `APIClient` for tests that returns the values that a test sets up. It sends and decodes nothing.
///
/// ```swift
/// let client = MockAPIClient()
/// client.when(Profile()).respond(User(name: "Ada"))
/// client.when(ArticleEndpoint.all).respond([Article(id: 1)]).fail(with: NetworkError.offline)
/// let model = ArticlesModel(client: client)
/// // …
/// #expect(client.calls.map(\.description) == ["GET /articles", "GET /articles"])
/// ```
///
/// Endpoints are compared by method, path and query. A call for which no response is set up fails with
/// `NetworkError.transport`, whose underlying error is an ``UnexpectedRequestError``. If several routes match a call,
/// the one that was added last responds, so a test can override the routes of its setup.
public final class MockAPIClient: APIClient {
    /// A call that the client received.
    public struct Call: Sendable, CustomStringConvertible {
        /// The called endpoint. Cast it to your own type to inspect it.
        public let endpoint: any Endpoint
        /// The position among all calls, from 1.
        public let number: Int

        /// The method, path and query: `GET /articles?page=2`.
        public var description: String { MockAPIClient.name(of: endpoint) }
    }

    /// The routes, and the calls received so far.
    private struct State {
        var routes: [MockRoute] = []
        var calls: [Call] = []
        var unexpected: [Call] = []
    }

    private let state = Locked(State())

    /// Creates a client without responses.
    public init() {}

    /// All calls so far, in the order of their arrival.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// The calls so far with the method, path and query of an endpoint.
    public func calls(to endpoint: some Endpoint) -> [Call] {
        calls.filter { $0.description == Self.name(of: endpoint) }
    }

    /// The calls so far for which no response was set up.
    public var unexpectedCalls: [Call] { state.withLock { $0.unexpected } }

    /// Returns the value that was set up for the endpoint.
    public func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        let response = try await respond(to: endpoint, monitor)
        if type == NoContent.self || response.value is NoContent,
            let empty = (type as? any EmptyBodyRepresentable.Type)?.empty as? Value
        {
            return response.with(empty)
        }
        guard let value = response.value as? Value else {
            throw response.mismatch(with: "\(type)", for: Self.failed(endpoint))
        }
        return response.with(value)
    }

    /// Returns the data that was set up for the endpoint, or the value encoded as JSON.
    public func data(
        for endpoint: any Endpoint, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Data> {
        let response = try await respond(to: endpoint, monitor)
        if let data = response.value as? Data { return response.with(data) }
        if response.value is NoContent { return response.with(Data()) }
        guard let value = response.value as? any Encodable, let data = try? JSONEncoder.martlet.encode(value) else {
            throw response.mismatch(with: "Data", for: Self.failed(endpoint))
        }
        return response.with(data)
    }

    private func respond(to endpoint: any Endpoint, _ monitor: TransferMonitor?) async throws(NetworkError)
        -> MockResponse
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
                throw UnexpectedRequestError(call.description, expected: routes.map(\.description))
            }
            let response = try await route.respond(to: endpoint) { sent, total in
                monitor?.send(TransferCount(completed: sent, total: total), in: pass)
            }
            try Task.checkCancellation()
            if let monitor {
                var length = monitor.sent.total
                if length == nil { length = await endpoint.body?.lengthWhenSent }
                guard let length else { return response }
                monitor.send(TransferCount(completed: length, total: length), in: pass)
            }
            return response
        } catch let error as NetworkError {
            throw error
        } catch is CancellationError {
            throw .cancelled(Self.failed(endpoint))
        } catch {
            if error is UnexpectedRequestError { state.withLock { $0.unexpected.append(call) } }
            throw .transport(Self.failed(endpoint), error)
        }
    }

    func add(_ route: MockRoute) {
        state.withLock { $0.routes.append(route) }
    }

    static func name(of endpoint: any Endpoint) -> String {
        "\(endpoint.method) \(endpoint.path.text)" + (endpoint.query.isEmpty ? "" : "?\(endpoint.query.encoded)")
    }

    static func failed(_ endpoint: any Endpoint) -> CallDescription {
        CallDescription(method: endpoint.method.rawValue, url: endpoint.path.text, attempts: 1)
    }
}

/// A stubbed value with its response head.
struct MockResponse: Sendable {
    let value: any Sendable
    let head: HTTPResponse

    func with<Value: Sendable>(_ value: Value) -> NetworkResponse<Value> {
        NetworkResponse(value: value, head: head, duration: .zero)
    }

    func mismatch(with type: String, for call: CallDescription) -> NetworkError {
        let reason = "the test responds with a \(Swift.type(of: value))"
        return .decoding(
            call,
            ResponseDecodingError(
                type: type, codingPath: "", reason: reason, response: ServerResponse(head: head, body: Data())))
    }
}
