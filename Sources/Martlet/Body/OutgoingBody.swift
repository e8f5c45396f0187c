#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a ``Transport`` gets to send.
public struct OutgoingBody: Sendable {
    /// How the bytes come.
    public enum Content: Sendable {
        /// All at once, in memory.
        case bytes(Data)
        /// Piece by piece; one pass.
        case stream(ByteStream)
    }

    /// The bytes.
    public let content: Content
    /// How many they are, if known: then a transport sends exactly this `Content-Length`, else it sends them chunked.
    public let length: Int64?
    /// Whether there can be another pass over it, should the transport need one.
    let isRepeatable: Bool
    /// Who counts what is taken of it, for a transport that knows better.
    let counting: Counting?

    /// Bytes in memory.
    public init(_ bytes: Data) {
        self.content = .bytes(bytes)
        self.length = Int64(bytes.count)
        self.isRepeatable = true
        self.counting = nil
    }

    /// Bytes piece by piece.
    public init(_ stream: ByteStream, length: Int64?) {
        self.init(stream, length: length, isRepeatable: false)
    }

    init(_ stream: ByteStream, length: Int64?, isRepeatable: Bool, counting: Counting? = nil) {
        self.content = .stream(stream)
        self.length = length
        self.isRepeatable = isRepeatable
        self.counting = counting
    }
}
