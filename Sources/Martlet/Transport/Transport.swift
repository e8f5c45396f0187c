public import HTTPTypes

/// Sends one request and streams its response. Everything else, such as redirects and retries, is up to the client.
///
/// A transport must not follow redirects, retry, keep cookies, cache, or respond to authentication challenges: the
/// client does that, the same on every platform. It returns a 401 as a response, whatever `WWW-Authenticate` says.
///
/// It decodes `Content-Encoding`, and the head that it returns announces only what is left to decode. A body that it
/// cannot decode is returned as it is, with its `Content-Encoding`. From a decoded response it removes
/// `Content-Length`, `Content-Range`, `Content-Digest` and `Repr-Digest`, which describe the encoded body.
///
/// A transport for a test takes a few lines:
///
/// ```swift
/// struct Teapot: Transport {
///     func send(
///         _ request: HTTPRequest, body: OutgoingBody?
///     ) async throws -> (head: HTTPResponse, body: ByteStream) {
///         (HTTPResponse(status: .init(code: 418)), ByteStream(Data()))
///     }
/// }
/// ```
public protocol Transport: Sendable {
    /// Sends the request, and returns when the head of the response has arrived.
    ///
    /// Cancelling the task ends the exchange, whether it is sending, waiting or reading. If the body of the response is
    /// released before it has been read, the exchange ends as well, so that no connection leaks.
    /// - Parameters:
    ///   - request: The request, with scheme and authority. `Content-Type` is set if there is a body; the transport
    ///     sets `Content-Length` and `Host`.
    ///   - body: The body.
    /// - Throws: ``TransportError``, or `CancellationError`.
    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream)

    /// A transport with the same settings whose requests never wait for requests of this one. It is used for token
    /// refreshes.
    ///
    /// The default is the transport itself, which is right if it does not limit its connections.
    func makeIsolatedTransport() -> any Transport

    /// The number of requests to an origin that can be under way at once; `nil` if no limit is known.
    ///
    /// The client holds further requests back. They would otherwise wait for a connection within the transport, and be
    /// sent with a token that has expired during that wait.
    func parallelRequests(to origin: Origin) -> Int?

    /// Whether a request with `Expect: 100-continue` waits for the server before it sends the body (RFC 9110, section
    /// 10.1.1), so that a rejected request does not cost an upload.
    var waitsForContinue: Bool { get }
}

extension Transport {
    /// The transport itself.
    public func makeIsolatedTransport() -> any Transport { self }

    /// No limit.
    public func parallelRequests(to origin: Origin) -> Int? { nil }

    /// It does not wait.
    public var waitsForContinue: Bool { false }
}

/// The reason why a request got no response.
@nonexhaustive public enum TransportError: Error, Sendable {
    /// The device has no network, and nothing was sent.
    case offline
    /// The server could not be reached, and nothing was sent: unknown host, connection refused, host unreachable.
    case cannotConnect(String)
    /// The connection broke after it was established.
    case connectionLost(String)
    /// Connecting or waiting took longer than the transport allows.
    case timedOut
    /// TLS failed.
    case tlsFailed(String)
    /// The response is not valid HTTP.
    case invalidResponse(String)
    /// The request cannot be sent, because of an invalid URL or header field.
    case invalidRequest(String)
    /// The stream of the request body threw an error.
    case bodyFailed(any Error)
}
