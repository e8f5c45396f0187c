public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Sends endpoints. Let a view model depend on this, and give it a ``NetworkClient`` in the app and a mock in tests.
///
/// ```swift
/// let articles: [Article] = try await client.send(ArticleEndpoint.all)     // the caller names the response
/// let me = try await client.send(Profile())                                // the request is bound to one
/// try await client.send(ArticleEndpoint.delete(id: 7))                     // nothing is expected back
/// ```
public protocol APIClient: Sendable {
    /// Sends an endpoint and decodes the answer.
    /// - Parameters:
    ///   - endpoint: What to send.
    ///   - type: What to decode.
    ///   - monitor: Is told how much of the body has gone out.
    /// - Throws: ``NetworkError``, which names the endpoint.
    func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Value>

    /// Sends an endpoint and returns the bytes of the answer as they came.
    /// - Parameters:
    ///   - endpoint: What to send.
    ///   - monitor: Is told how much of the body has gone out.
    /// - Throws: ``NetworkError``, which names the endpoint.
    func data(
        for endpoint: any Endpoint, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Data>
}

extension APIClient {
    /// Sends an endpoint whose response the caller names.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func send<Value: Decodable & Sendable>(
        _ endpoint: some APIEndpoint, as type: Value.Type = Value.self, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Value {
        try await response(for: endpoint, as: type, monitor: monitor).value
    }

    /// Sends an endpoint whose response has nothing to tell; any body of a successful answer is ignored.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func send(
        _ endpoint: some APIEndpoint, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) {
        _ = try await response(for: endpoint, as: Empty.self, monitor: monitor)
    }

    /// Sends a request with a response bound to it.
    /// - Throws: ``NetworkError``, which names the endpoint.
    @discardableResult
    public func send<Request: APIRequest>(
        _ request: Request, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Request.Response {
        try await response(for: request, as: Request.Response.self, monitor: monitor).value
    }

    /// Sends a request with a response bound to it, and tells what came with it.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func response<Request: APIRequest>(
        for request: Request, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<Request.Response> {
        try await response(for: request, as: Request.Response.self, monitor: monitor)
    }

    /// Sends an endpoint and decodes the answer.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        try await response(for: endpoint, as: type, monitor: nil)
    }

    /// Sends an endpoint and returns the bytes of the answer as they came.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func data(for endpoint: any Endpoint) async throws(NetworkError) -> NetworkResponse<Data> {
        try await data(for: endpoint, monitor: nil)
    }
}

/// An answer with what came with it.
public struct NetworkResponse<Value: Sendable>: Sendable {
    /// The answer itself.
    public let value: Value
    /// Status and header fields.
    public let head: HTTPResponse
    /// How many times the request was sent, the last time included.
    public let attempts: Int
    /// How long it took.
    public let timings: Timings

    /// How long a call took.
    public struct Timings: Sendable, Hashable {
        /// From the call to its result, waiting and all attempts included.
        public let total: Duration
        /// From the start of the last attempt to its last byte.
        public let lastAttempt: Duration

        /// How long a call took.
        public init(total: Duration, lastAttempt: Duration) {
            self.total = total
            self.lastAttempt = lastAttempt
        }
    }

    /// An answer with what came with it.
    public init(value: Value, head: HTTPResponse, attempts: Int = 1, timings: Timings) {
        self.value = value
        self.head = head
        self.attempts = attempts
        self.timings = timings
    }

    /// The status code.
    public var status: Int { head.status.code }

    /// The header fields.
    public var headers: HTTPFields { head.headerFields }

    func with<Other: Sendable>(_ value: Other) -> NetworkResponse<Other> {
        NetworkResponse<Other>(
            value: value, head: head, attempts: attempts,
            timings: .init(total: timings.total, lastAttempt: timings.lastAttempt))
    }
}

/// An answer that has nothing to tell, whatever its body.
public struct Empty: Decodable, Sendable, Hashable, EmptyRepresentable {
    /// Nothing.
    public init() {}

    /// Decodes from anything.
    public init(from decoder: any Decoder) throws {}

    /// Nothing.
    public static var empty: Empty { Empty() }
}

/// A response type that an answer without a body decodes into: ``Empty``, every `Optional`, and yours.
public protocol EmptyRepresentable {
    /// What an answer without a body decodes into.
    static var empty: Self { get }
}

extension Optional: EmptyRepresentable {
    /// `nil`.
    public static var empty: Wrapped? { nil }
}
