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
    ///
    /// ```swift
    /// let film: Film = try await client.send(FilmEndpoint.upload(path)) { sent in bar.show(sent.fraction ?? 0) }
    /// ```
    /// - Parameters:
    ///   - endpoint: The endpoint to send.
    ///   - type: The type to decode.
    ///   - monitor: Reports the progress of the request's body.
    ///   - progress: Called with the progress of the request's body: in order, and at most ten times a second if there
    ///     is no `monitor`. Each attempt starts again at zero. All counts have been reported when the method returns.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func send<Value: Decodable & Sendable>(
        _ endpoint: some APIEndpoint, as type: Value.Type = Value.self, monitor: TransferMonitor? = nil,
        progress: (@Sendable (TransferCount) -> Void)? = nil
    ) async throws(NetworkError) -> Value {
        guard let progress else { return try await response(for: endpoint, as: type, monitor: monitor).value }
        return try await value(of: endpoint, as: type, monitor ?? TransferMonitor(), progress)
    }

    /// Sends an endpoint and ignores the body of a successful response.
    /// - Parameters:
    ///   - endpoint: The endpoint to send.
    ///   - monitor: Reports the progress of the request's body.
    ///   - progress: See ``send(_:as:monitor:progress:)``.
    /// - Throws: ``NetworkError``, which names the endpoint.
    public func send(
        _ endpoint: some APIEndpoint, monitor: TransferMonitor? = nil,
        progress: (@Sendable (TransferCount) -> Void)? = nil
    ) async throws(NetworkError) {
        let _: NoContent = try await send(endpoint, monitor: monitor, progress: progress)
    }

    /// Sends a request and decodes its ``APIRequest/Response``.
    /// - Parameters:
    ///   - request: The request to send.
    ///   - monitor: Reports the progress of the request's body.
    ///   - progress: See ``send(_:as:monitor:progress:)``.
    /// - Throws: ``NetworkError``, which names the endpoint.
    @discardableResult
    public func send<Request: APIRequest>(
        _ request: Request, monitor: TransferMonitor? = nil,
        progress: (@Sendable (TransferCount) -> Void)? = nil
    ) async throws(NetworkError) -> Request.Response {
        let type = Request.Response.self
        guard let progress else { return try await response(for: request, as: type, monitor: monitor).value }
        return try await value(of: request, as: type, monitor ?? TransferMonitor(), progress)
    }

    private func value<Value: Decodable & Sendable>(
        of endpoint: any Endpoint, as type: Value.Type, _ monitor: TransferMonitor,
        _ progress: @escaping @Sendable (TransferCount) -> Void
    ) async throws(NetworkError) -> Value {
        try await monitor.reporting({ $0.sentCount }, to: progress) { () throws(NetworkError) in
            try await response(for: endpoint, as: type, monitor: monitor).value
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
