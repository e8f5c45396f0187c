#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension OutgoingBody {
    /// In memory, a body up to this size goes out in one piece.
    private static let pieceSize = 64 * 1024

    /// What a transport needs that reads a body long before it sends it, and so must count for itself.
    struct Counting: Sendable {
        /// The same bytes, with nobody told of them.
        let uncounted: ByteStream
        /// Called as the body is read, that it is.
        let madeHeadway: @Sendable () -> Void
        /// Called as a pass over the body begins; gives whom to tell how much has gone out.
        let begin: @Sendable () -> @Sendable (TransferCount) -> Void
    }

    /// The same body, with somebody told how much of it has been asked for.
    ///
    /// A piece counts once the transport asks for the one after it: then it has taken it. One that counts for itself
    /// takes ``Counting``.
    /// - Parameters:
    ///   - madeHeadway: Called when something of the body is taken.
    ///   - begin: Called as a pass over the body begins, at once where there are no bytes to pass over; gives whom to
    ///     tell.
    func counted(
        madeHeadway: @escaping @Sendable () -> Void = {},
        _ begin: @escaping @Sendable () -> @Sendable (TransferCount) -> Void
    ) -> OutgoingBody {
        let stream: ByteStream
        switch content {
        case .bytes(let bytes):
            guard !bytes.isEmpty else {
                // It stays as it is: as a stream, some transports would send it in another way.
                begin()(TransferCount(completed: 0, total: 0))
                return self
            }
            stream = ByteStream {
                var rest = bytes
                return {
                    // Pieces share the memory of the whole.
                    defer { rest = rest.dropFirst(Self.pieceSize) }
                    return rest.isEmpty ? nil : rest.prefix(Self.pieceSize)
                }
            }
        case .stream(let bytes): stream = bytes
        }
        let counted = ByteStream {
            let iterator = stream.makeAsyncIterator()
            var total = length
            var completed: Int64 = 0
            var taken: Int64 = 0
            let tell = begin()
            tell(TransferCount(completed: 0, total: total))
            return {
                completed += taken
                taken = 0
                if completed > 0 { tell(TransferCount(completed: completed, total: total)) }
                guard let piece = try await iterator.next() else {
                    // Now it is known how many there were.
                    if total == nil {
                        total = completed
                        tell(TransferCount(completed: completed, total: total))
                    }
                    return nil
                }
                taken = Int64(piece.count)
                return piece
            }
        }
        return OutgoingBody(
            counted, length: length, isRepeatable: isRepeatable,
            counting: Counting(uncounted: stream, madeHeadway: madeHeadway, begin: begin))
    }
}

extension ByteStream {
    /// The same bytes, with somebody told how many have come.
    func counted(
        from start: Int64 = 0, of total: Int64?, _ tell: @escaping @Sendable (TransferCount) -> Void
    ) -> ByteStream {
        ByteStream {
            let iterator = makeAsyncIterator()
            var completed = start
            tell(TransferCount(completed: completed, total: total))
            return {
                guard let piece = try await iterator.next() else {
                    // Now it is known how many there were.
                    if total == nil { tell(TransferCount(completed: completed, total: completed)) }
                    return nil
                }
                completed += Int64(piece.count)
                tell(TransferCount(completed: completed, total: total))
                return piece
            }
        }
    }
}
