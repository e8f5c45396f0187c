#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Bytes that come piece by piece: an answer on its way in, or a body on its way out.
///
/// Each pass starts with ``makeAsyncIterator()``. An answer, and a body made from a one-shot sequence, can be read in
/// one pass only; a second pass throws.
public struct ByteStream: AsyncSequence, Sendable {
    /// One piece; never empty at the end of a stream, which is `nil`.
    public typealias Element = Data

    private let makeNext: @Sendable () -> NextChunk

    /// The step of one pass: the next piece, or `nil` at the end.
    public typealias NextChunk = () async throws -> Data?

    /// A stream that calls `makeNext` for each pass over it.
    public init(_ makeNext: @escaping @Sendable () -> NextChunk) {
        self.makeNext = makeNext
    }

    /// A stream over a sequence that can be passed over again and again.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) where Chunks.Element == Data {
        self.init {
            var iterator = chunks.makeAsyncIterator()
            return { try await iterator.next() }
        }
    }

    /// A stream of one piece.
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

        /// The next piece, or `nil` at the end.
        public func next() async throws -> Data? {
            try await nextChunk()
        }
    }

    /// Starts a pass.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(nextChunk: makeNext())
    }

    /// Everything in memory.
    /// - Parameter limit: How many bytes to accept at most.
    /// - Throws: ``ByteStream/TooLarge`` once the stream has more than `limit` bytes; what the stream throws.
    public func collect(upTo limit: Int) async throws -> Data {
        let nextChunk = makeNext()
        guard var result = try await nextChunk() else { return Data() }
        guard result.count <= limit else { throw TooLarge(limit: limit) }
        while let chunk = try await nextChunk() {
            guard result.count + chunk.count <= limit else { throw TooLarge(limit: limit) }
            result.append(chunk)
        }
        return result
    }

    /// A stream had more bytes than its reader accepts.
    public struct TooLarge: Error, Sendable, Hashable {
        /// How many bytes were accepted at most.
        public let limit: Int
    }
}
