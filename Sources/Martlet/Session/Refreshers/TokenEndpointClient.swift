public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Sends requests to the token endpoint for a ``TokenRefresher`` or a ``TokenRevoker``.
///
/// Its requests bypass interceptors, request slots and retries, and the manager limits the time they take. It follows
/// no redirect, so a refresh token never reaches another server.
public struct TokenEndpointClient: Sendable {
    let baseURL: BaseURL
    let transport: any Transport
    let time: any TimeSource
    let allowsInsecureHTTP: Bool
    let headers: HTTPFields
    /// The time that the manager gives one attempt of a refresh; `nil` without a manager.
    package let attemptTimeout: Duration?

    package init(
        baseURL: BaseURL, transport: any Transport, time: any TimeSource, allowsInsecureHTTP: Bool = false,
        headers: HTTPFields = [:], attemptTimeout: Duration? = nil
    ) {
        self.attemptTimeout = attemptTimeout
        self.baseURL = baseURL
        self.transport = transport
        self.time = time
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.headers = headers
    }

    /// The largest accepted response, in bytes. A response with tokens is far smaller.
    private static let responseLimit = 1 << 20

    /// Sends a request and reads the whole response, whatever its status.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: A path below the base URL, or an absolute URL.
    ///   - query: The query items.
    ///   - headers: Header fields. They replace the manager's own fields of the same name.
    ///   - body: The body, if any; set its `Content-Type` in `headers`.
    /// - Throws: ``RefreshError`` if there is no response; another error if the URL is invalid or insecure.
    public func send(
        _ method: HTTPRequest.Method, _ path: String, query: Query = [:], headers: HTTPFields = [:], body: Data? = nil
    ) async throws -> ServerResponse {
        let request = try request(method, path, query: query, headers: headers)
        do {
            let response = try await transport.send(request, body: body.map { OutgoingBody($0) })
            return ServerResponse(head: response.head, body: try await response.body.collect(upTo: Self.responseLimit))
        } catch let error as TransportError {
            throw RefreshError(error)
        } catch let error as ByteStream.TooLargeError {
            throw RefreshError(.unreadableResponse, description: "the response is larger than \(error.limit) bytes")
        }
    }

    func request(
        _ method: HTTPRequest.Method, _ path: String, query: Query = [:], headers: HTTPFields = [:]
    ) throws -> HTTPRequest {
        let location = try baseURL.location.get().appending(RequestPath(setting: path), query: query)
        guard allowsInsecureHTTP || !location.origin.isInsecure else {
            throw InvalidRequestError("\(location.origin) is plain http, so no token is sent there. Use https.")
        }
        return HTTPRequest(
            method: method, scheme: location.origin.scheme, authority: location.authority, path: location.target,
            headerFields: .merged(client: self.headers, endpoint: headers, accept: "application/json"))
    }

    /// The current time by this device's wall clock.
    var now: Date { time.wallClock }
}

extension RefreshError {
    init(_ error: TransportError) {
        switch error {
        case .offline: self.init(.offline, description: "this device is offline")
        case .timedOut: self.init(.timedOut, description: "the token endpoint did not respond in time")
        case .cannotConnect(let reason), .tlsFailed(let reason):
            self.init(.connection, description: "the token endpoint could not be reached (\(reason))")
            mayHaveSpentToken = false
        case .connectionLost(let reason):
            self.init(.connection, description: "the connection to the token endpoint was lost (\(reason))")
        case .invalidResponse(let reason):
            self.init(.unreadableResponse, description: "the token endpoint's response is invalid (\(reason))")
        case .invalidRequest(let reason):
            self.init(.refresher, description: "the refresh request could not be sent (\(reason))")
            mayHaveSpentToken = false
        case .bodyFailed(let error):
            self.init(
                .refresher, description: "the refresh request could not be sent (\(Redaction.redact("\(error)")))")
        }
    }
}
