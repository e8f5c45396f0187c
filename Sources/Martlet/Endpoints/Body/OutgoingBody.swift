#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A request body as a ``Transport`` gets it: bytes in memory, or a stream.
public struct OutgoingBody: Sendable {
    /// The bytes in memory, or a stream of them.
    package enum Content: Sendable {
        case bytes(Data)
        case stream(ByteStream)
    }

    package let content: Content
    /// The number of bytes. If it is known, a transport sends it as `Content-Length`; otherwise it sends the body in
    /// chunks.
    public let length: Int64?
    /// Whether the stream can be read again if the transport needs to.
    let isRepeatable: Bool
    /// Reports the progress of the body; `nil` if it is not observed.
    let counting: Counting?

    /// Creates a body from bytes in memory.
    public init(_ bytes: Data) {
        self.content = .bytes(bytes)
        self.length = Int64(bytes.count)
        self.isRepeatable = true
        self.counting = nil
    }

    /// Creates a single-use body from a stream.
    public init(_ stream: ByteStream, length: Int64?) {
        self.init(stream, length: length, isRepeatable: false)
    }

    init(_ stream: ByteStream, length: Int64?, isRepeatable: Bool, counting: Counting? = nil) {
        self.content = .stream(stream)
        self.length = length
        self.isRepeatable = isRepeatable
        self.counting = counting
    }

    /// The bytes, if they are in memory.
    public var bytes: Data? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// The bytes as a stream, for a single pass.
    public var stream: ByteStream {
        switch content {
        case .bytes(let bytes): ByteStream(bytes)
        case .stream(let stream): stream
        }
    }
}
