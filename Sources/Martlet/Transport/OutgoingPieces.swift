#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One pass over a request body, in chunks of limited size and checked against the declared length.
///
/// If a stream ended early, the server would wait for the rest. If it had more bytes, the server would read them as the
/// next request.
struct OutgoingPieces {
    /// The largest chunk, which limits the memory that a transport uses for a body.
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

    /// The next chunk, which is never empty, or `nil` at the end.
    /// - Throws: ``TransportError/bodyFailed(_:)`` with the stream's error, ``TransportError/invalidRequest(_:)`` if
    ///   the length is not the declared one, or `CancellationError`.
    mutating func next() async throws -> Data? {
        while rest.isEmpty {
            guard let chunk = try await pull() else {
                guard let length, length != sent else { return nil }
                throw TransportError.invalidRequest(
                    "the stream of the body ended after \(sent) of \(length) declared bytes")
            }
            rest = chunk
        }
        let piece = rest.prefix(Self.maximumPieceSize)
        rest = rest.dropFirst(piece.count)
        sent += Int64(piece.count)
        if let length, sent > length {
            throw TransportError.invalidRequest("the stream of the body has more than the \(length) declared bytes")
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
