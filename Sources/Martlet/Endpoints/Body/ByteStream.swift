#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Bytes that arrive in chunks: the body of a response, or a request body while it is sent.
///
/// Each `for try await` loop is one pass over the stream. The body of a response, and a single-use body
/// (``RequestBody/singleUse(_:length:contentType:)``), allow one pass; a second pass throws.
public struct ByteStream: AsyncSequence, Sendable {
    /// The step of one pass: the next chunk, or `nil` at the end.
    typealias NextChunk = () async throws -> Data?

    private let makeNext: @Sendable () -> NextChunk

    /// Creates a stream that calls `makeNext` at the start of each pass. The closure it returns provides the next
    /// chunk, or `nil` at the end.
    public init(_ makeNext: @escaping @Sendable () -> () async throws -> Data?) {
        self.makeNext = makeNext
    }

    /// Creates a stream over a sequence that allows more than one pass.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) where Chunks.Element == Data {
        self.init {
            var iterator = chunks.makeAsyncIterator()
            return { try await iterator.next() }
        }
    }

    /// Creates a stream of one chunk.
    public init(_ bytes: Data) {
        self.init {
            var rest: Data? = bytes.isEmpty ? nil : bytes
            return {
                defer { rest = nil }
                return rest
            }
        }
    }

    /// One pass over the stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextChunk: NextChunk

        /// The next chunk, or `nil` at the end.
        public func next() async throws -> Data? {
            try await nextChunk()
        }
    }

    /// Starts a pass.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(nextChunk: makeNext())
    }

    /// Reads the whole stream into memory.
    /// - Parameter limit: The largest number of bytes to accept.
    /// - Throws: An error if the stream has more than `limit` bytes, and the stream's own errors.
    public func collect(upTo limit: Int) async throws -> Data {
        let nextChunk = makeNext()
        guard var result = try await nextChunk() else { return Data() }
        guard result.count <= limit else { throw TooLargeError(limit: limit) }
        while let chunk = try await nextChunk() {
            guard result.count + chunk.count <= limit else { throw TooLargeError(limit: limit) }
            result.append(chunk)
        }
        return result
    }

    /// A stream has more bytes than its reader accepts.
    package struct TooLargeError: Error, Sendable, Hashable {
        package let limit: Int
    }
}
