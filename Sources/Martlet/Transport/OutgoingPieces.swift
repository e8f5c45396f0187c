#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One pass over an outgoing body, in pieces of bounded size and checked against its declared length.
///
/// A stream that ends early or runs on would leave the server waiting, or hand it bytes that look like the next request.
struct OutgoingPieces {
    /// The largest piece handed out: what a transport holds of a body at a time stays bounded.
    static let maximumPieceSize = 256 * 1024

    private let nextChunk: ByteStream.NextChunk
    private let length: Int64?
    private var sent: Int64 = 0
    private var rest = Data()

    init(_ body: OutgoingBody) {
        switch body.content {
        case .bytes(let bytes):
            self.nextChunk = { nil }
            self.rest = bytes
        case .stream(let stream):
            let iterator = stream.makeAsyncIterator()
            self.nextChunk = { try await iterator.next() }
        }
        self.length = body.length
    }

    /// The next piece, never empty, or `nil` at the end.
    /// - Throws: ``TransportError/bodyFailed(_:)`` with what the stream threw, ``TransportError/invalidRequest(_:)``
    ///   where the length is not the declared one, `CancellationError`.
    mutating func next() async throws -> Data? {
        while rest.isEmpty {
            guard let chunk = try await pull() else {
                guard let length, length != sent else { return nil }
                throw TransportError.invalidRequest(
                    "the body's stream ended after \(sent) of \(length) declared bytes")
            }
            rest = chunk
        }
        let piece = rest.prefix(Self.maximumPieceSize)
        rest = rest.dropFirst(piece.count)
        sent += Int64(piece.count)
        if let length, sent > length {
            throw TransportError.invalidRequest("the body's stream has more than the \(length) declared bytes")
        }
        return piece
    }

    private func pull() async throws -> Data? {
        do {
            return try await nextChunk()
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            throw TransportError.bodyFailed(error)
        }
    }
}
