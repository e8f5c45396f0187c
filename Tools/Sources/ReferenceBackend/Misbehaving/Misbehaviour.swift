/// What a ``MisbehavingServer`` does to every connection.
public enum Misbehaviour: Sendable, Hashable {
    /// Reads the request and sends nothing.
    case acceptsAndNeverAnswers
    /// Closes every connection as soon as it is open.
    case closesImmediately
    /// Reads the request and resets the connection.
    case resetsConnection
    /// Sends half a response head and closes.
    case closesMidHead
    /// Announces `declared` bytes, sends `sent` of them and closes.
    case closesMidBody(declared: Int = 1000, sent: Int = 100)
    /// Announces `declared` bytes and sends `sent`, which are more.
    case sendsTooMuch(declared: Int = 10, sent: Int = 1000)
    /// Sends header fields without end, but no more than this many bytes.
    case endlessHeaders(totalBytes: Int = 100 << 20)
    /// Sends a body without end for as long as the client takes it.
    case endlessBody
    /// Sends a body one byte at a time, without end.
    case slowDrip(interval: Duration)
    /// Sends bytes that are not HTTP and closes.
    case garbage
    /// Sends a chunked body whose chunk sizes are not numbers.
    case badChunkedEncoding
    /// Sends a status line without a status.
    case invalidStatusLine
}
