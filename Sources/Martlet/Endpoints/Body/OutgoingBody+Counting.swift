#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension OutgoingBody {
    /// A body in memory is sent in chunks of this size, so that its progress can be counted.
    private static let pieceSize = 64 * 1024

    /// The uncounted body and the callbacks that report its progress. A transport that reads a body long before it
    /// sends it counts the sent bytes itself, and calls these callbacks.
    struct Counting: Sendable {
        /// The same bytes, without counting.
        let uncounted: ByteStream
        /// Called whenever a part of the body has been read.
        let onProgress: @Sendable () -> Void
        /// Called when a pass over the body starts. Returns the closure that reports the sent bytes.
        let begin: @Sendable () -> @Sendable (TransferCount) -> Void
    }

    /// The same body, which counts how much of it has been sent.
    ///
    /// A chunk counts as sent when the transport asks for the next one. A transport that counts for itself uses
    /// ``Counting``.
    /// - Parameters:
    ///   - onProgress: Called whenever a part of the body has been read.
    ///   - begin: Called when a pass over the body starts; at once if the body is empty. Returns the closure that
    ///     reports the sent bytes.
    func counted(
        onProgress: @escaping @Sendable () -> Void = {},
        _ begin: @escaping @Sendable () -> @Sendable (TransferCount) -> Void
    ) -> OutgoingBody {
        let stream: ByteStream
        switch content {
        case .bytes(let bytes):
            guard !bytes.isEmpty else {
                // Keep an empty body as it is: some transports would send an empty stream differently.
                begin()(TransferCount(completed: 0, total: 0))
                return self
            }
            stream = Self.pieces(of: bytes)
        case .stream(let bytes): stream = bytes
        }
        return OutgoingBody(
            Self.counted(stream, length: length, begin), length: length, isRepeatable: isRepeatable,
            counting: Counting(uncounted: stream, onProgress: onProgress, begin: begin))
    }

    private static func counted(
        _ stream: ByteStream, length: Int64?, _ begin: @escaping @Sendable () -> @Sendable (TransferCount) -> Void
    ) -> ByteStream {
        ByteStream {
            let iterator = stream.makeAsyncIterator()
            var total = length
            var completed: Int64 = 0
            var taken: Int64 = 0
            let report = begin()
            report(TransferCount(completed: 0, total: total))
            return {
                completed += taken
                taken = 0
                if completed > 0 { report(TransferCount(completed: completed, total: total)) }
                guard let piece = try await iterator.next() else {
                    // The end of the stream reveals its length.
                    if total == nil {
                        total = completed
                        report(TransferCount(completed: completed, total: total))
                    }
                    return nil
                }
                taken = Int64(piece.count)
                return piece
            }
        }
    }

    /// A stream of pieces, which share the memory of the whole body.
    private static func pieces(of bytes: Data) -> ByteStream {
        ByteStream {
            var rest = bytes
            return {
                defer { rest = rest.dropFirst(pieceSize) }
                return rest.isEmpty ? nil : rest.prefix(pieceSize)
            }
        }
    }
}

extension ByteStream {
    /// The same bytes, which report how many have arrived.
    func counted(
        from start: Int64 = 0, of total: Int64?, _ report: @escaping @Sendable (TransferCount) -> Void
    ) -> ByteStream {
        ByteStream {
            let iterator = makeAsyncIterator()
            var completed = start
            report(TransferCount(completed: completed, total: total))
            return {
                guard let piece = try await iterator.next() else {
                    // The end of the stream reveals its length.
                    if total == nil { report(TransferCount(completed: completed, total: completed)) }
                    return nil
                }
                completed += Int64(piece.count)
                report(TransferCount(completed: completed, total: total))
                return piece
            }
        }
    }
}
