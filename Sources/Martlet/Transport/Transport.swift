public import HTTPTypes

/// Sends one request and streams one answer. All policy stands elsewhere.
///
/// A transport follows no redirects, retries nothing, keeps no cookies, answers no authentication challenge and caches
/// nothing: the client does what is right, the same on every platform. A 401 comes back as an answer, whatever
/// `WWW-Authenticate` says. It does decode `Content-Encoding`.
///
/// A test's transport is a few lines:
///
/// ```swift
/// struct Teapot: Transport {
///     func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
///         TransportResponse(head: HTTPResponse(status: .init(code: 418)), body: ByteStream(Data()))
///     }
/// }
/// ```
public protocol Transport: Sendable {
    /// Sends the request and returns once the head of the answer is there.
    ///
    /// Cancelling the task ends the exchange, while sending, waiting or reading. A body that is dropped unread is
    /// cancelled too, so that no connection leaks.
    /// - Parameters:
    ///   - request: What to send; scheme and authority are set. `Content-Type` is set where there is a body;
    ///     `Content-Length` and `Host` are the transport's to set.
    ///   - body: What it carries.
    /// - Throws: ``TransportError``, or `CancellationError`.
    func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse

    /// A transport like this one whose requests never queue behind this one's, for the refresh of tokens.
    ///
    /// The default is the transport itself, right for one that has no limit of its own.
    func makeLane() -> any Transport

    /// How many requests to an origin can be on their way at once, as far as is known now; `nil` for any number.
    ///
    /// More would wait for a connection within the transport, where nothing can be done about them: the client keeps
    /// them back instead, so that they are signed with the newest token when their turn comes.
    func parallelRequests(to origin: Origin) -> Int?

    /// Whether a request with `Expect: 100-continue` waits for the server before its body goes out (RFC 9110, section
    /// 10.1.1), so that a refusal costs no body.
    var waitsForContinue: Bool { get }
}

extension Transport {
    /// The transport itself.
    public func makeLane() -> any Transport { self }

    /// Any number.
    public func parallelRequests(to origin: Origin) -> Int? { nil }

    /// It does not.
    public var waitsForContinue: Bool { false }
}

/// The answer to one request.
public struct TransportResponse: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse
    /// The body; one pass. Reading it keeps back-pressure: what is not read is not fetched.
    public var body: ByteStream

    /// The answer to one request.
    public init(head: HTTPResponse, body: ByteStream) {
        self.head = head
        self.body = body
    }
}

/// Why a request got no answer.
public enum TransportError: Error, Sendable {
    /// This device has no network.
    case offline
    /// The server was not reached: unknown host, refused, unreachable.
    case cannotConnect(String)
    /// The connection broke after it was made.
    case connectionLost(String)
    /// Connecting or waiting took longer than the transport allows.
    case timedOut
    /// TLS failed.
    case tlsFailed(String)
    /// What came back is not HTTP as it should be.
    case invalidResponse(String)
    /// The request itself cannot be sent: a bad URL, a field that HTTP does not allow.
    case invalidRequest(String)
    /// The body's own stream threw.
    case bodyFailed(any Error)
}
