#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Sends endpoints. Let a view model depend on this protocol: the app gives it a ``NetworkClient``, and tests give it a
/// mock.
///
/// ```swift
/// let articles: [Article] = try await client.send(ArticleEndpoint.all)     // the caller names the response type
/// let me = try await client.send(Profile())                                // the request names its response type
/// try await client.send(ArticleEndpoint.delete(id: 7))                     // the body of the response is ignored
/// ```
public protocol APIClient: Sendable {
    /// Sends an endpoint and decodes the response.
    /// - Parameters:
    ///   - endpoint: The endpoint to send.
    ///   - type: The type to decode.
    ///   - monitor: Reports the progress of the upload.
    /// - Throws: ``NetworkError``, which names the endpoint.
    func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Value>

    /// Sends an endpoint and returns the undecoded body of the response.
    /// - Parameters:
    ///   - endpoint: The endpoint to send.
    ///   - monitor: Reports the progress of the upload.
    /// - Throws: ``NetworkError``, which names the endpoint.
    func data(
        for endpoint: any Endpoint, monitor: TransferMonitor?
    ) async throws(NetworkError) -> NetworkResponse<Data>
}

extension APIClient {
    /// Sends an endpoint and decodes the response as the type that the caller names.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func send<Value: Decodable & Sendable>(
        _ endpoint: some APIEndpoint, as type: Value.Type = Value.self, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Value {
        try await response(for: endpoint, as: type, monitor: monitor).value
    }

    /// Sends an endpoint and ignores the body of a successful response.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func send(
        _ endpoint: some APIEndpoint, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) {
        _ = try await response(for: endpoint, as: NoContent.self, monitor: monitor)
    }

    /// Sends a request and decodes its ``APIRequest/Response``.
    /// - Throws: ``NetworkError``, which names the endpoint.
    @discardableResult
    public func send<Request: APIRequest>(
        _ request: Request, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> Request.Response {
        try await response(for: request, as: Request.Response.self, monitor: monitor).value
    }

    /// Sends an endpoint, decodes the response as the type that the caller names, and reports the progress of the
    /// request's body.
    /// - Parameters:
    ///   - endpoint: The endpoint to send.
    ///   - type: The type to decode.
    ///   - progress: Called with the progress of the body, in order and at most ten times a second. Each attempt starts
    ///     again at zero.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func send<Value: Decodable & Sendable>(
        _ endpoint: some APIEndpoint, as type: Value.Type = Value.self,
        progress: @escaping @Sendable (TransferCount) -> Void
    ) async throws(NetworkError) -> Value {
        let monitor = TransferMonitor()
        return try await monitor.reporting({ $0.sentCount }, to: progress) { () throws(NetworkError) in
            try await send(endpoint, as: type, monitor: monitor)
        }
    }

    /// Sends an endpoint, ignores the body of a successful response, and reports the progress of the request's body.
    /// - Parameters:
    ///   - endpoint: The endpoint to send.
    ///   - progress: See ``send(_:as:progress:)``.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func send(
        _ endpoint: some APIEndpoint, progress: @escaping @Sendable (TransferCount) -> Void
    ) async throws(NetworkError) {
        let _: NoContent = try await send(endpoint, progress: progress)
    }

    /// Sends a request, decodes its ``APIRequest/Response``, and reports the progress of the request's body.
    ///
    /// ```swift
    /// let film = try await client.send(UploadFilm(file: path)) { sent in bar.show(sent.fraction ?? 0) }
    /// ```
    /// - Parameters:
    ///   - request: The request to send.
    ///   - progress: See ``send(_:as:progress:)``.
    /// - Throws: ``NetworkError``, which names the endpoint.
    @discardableResult
    public func send<Request: APIRequest>(
        _ request: Request, progress: @escaping @Sendable (TransferCount) -> Void
    ) async throws(NetworkError) -> Request.Response {
        let monitor = TransferMonitor()
        return try await monitor.reporting({ $0.sentCount }, to: progress) { () throws(NetworkError) in
            try await send(request, monitor: monitor)
        }
    }

    /// Sends a request, and returns its decoded response with the head, the number of attempts and the duration.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func response<Request: APIRequest>(
        for request: Request, monitor: TransferMonitor? = nil
    ) async throws(NetworkError) -> NetworkResponse<Request.Response> {
        try await response(for: request, as: Request.Response.self, monitor: monitor)
    }

    /// Sends an endpoint and decodes the response.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func response<Value: Decodable & Sendable>(
        for endpoint: any Endpoint, as type: Value.Type = Value.self
    ) async throws(NetworkError) -> NetworkResponse<Value> {
        try await response(for: endpoint, as: type, monitor: nil)
    }

    /// Sends an endpoint and returns the undecoded body of the response.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func data(for endpoint: any Endpoint) async throws(NetworkError) -> NetworkResponse<Data> {
        try await data(for: endpoint, monitor: nil)
    }
}
