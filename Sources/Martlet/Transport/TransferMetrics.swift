/// The durations of the steps of one request, and the amounts of data that were transferred.
///
/// A value is `nil` if the transport does not know it, or if the step did not happen. <doc:WatchingYourCalls> lists
/// what each transport knows. Times are measured only for calls that an observer watches.
public struct TransferMetrics: Sendable, Hashable {
    /// The lookup of the host's address.
    public var nameLookup: Duration?
    /// Connecting, with the TLS handshake.
    public var connecting: Duration?
    /// The TLS handshake.
    public var tls: Duration?
    /// From the start of the request to the first byte of the response, or to its head if the transport reports only
    /// that. It includes lookup, connecting, sending, and the wait for a free connection.
    public var firstByte: Duration?
    /// From the first byte of the response to the last.
    public var receiving: Duration?
    /// The size of the request's header section as sent.
    public var headerBytesSent: Int64?
    /// The size of the request's body as sent.
    public var bodyBytesSent: Int64?
    /// The size of the response's header section as received.
    public var headerBytesReceived: Int64?
    /// The size of the response's body as received, before its `Content-Encoding` is decoded.
    public var bodyBytesReceived: Int64?
    /// Whether the connection was open before the request.
    public var isReused: Bool?
    /// The protocol as its ALPN identifier (RFC 7301): `http/1.1`, `h2` or `h3`.
    public var protocolName: String?

    /// Creates metrics without any value.
    public init() {}
}
