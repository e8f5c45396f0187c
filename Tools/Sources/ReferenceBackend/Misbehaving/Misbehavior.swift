/// The behavior of a ``MisbehavingServer`` on every connection.
public enum Misbehavior: Sendable, Hashable {
    /// Reads the request and sends nothing.
    case acceptsAndNeverResponds
    /// Closes every connection right after accepting it.
    case closesImmediately
    /// Reads the request and resets the connection.
    case resetsConnection
    /// Sends half of a response head and closes the connection.
    case closesMidHead
    /// Announces `declared` bytes, sends only `sent` and closes the connection.
    case closesMidBody(declared: Int = 1000, sent: Int = 100)
    /// Announces `declared` bytes and sends `sent`, which is more.
    case sendsTooMuch(declared: Int = 10, sent: Int = 1000)
    /// Sends header fields endlessly, up to `totalBytes`.
    case endlessHeaders(totalBytes: Int = 100 << 20)
    /// Sends an endless body.
    case endlessBody
    /// Sends an endless body one byte at a time.
    case slowDrip(interval: Duration)
    /// Sends bytes that are not HTTP and closes the connection.
    case garbage
    /// Sends a chunked body with invalid chunk sizes.
    case badChunkedEncoding
    /// Sends a status line without a status code.
    case invalidStatusLine
}
