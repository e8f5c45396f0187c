#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A single-use body was opened or read again.
struct BodySpentError: Error {}

extension ByteStream {
    /// Opens a single-use sequence. Opening it again, or reading the stream again, throws ``BodySpentError``.
    static func opensOnce<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks
    ) -> @Sendable () throws -> ByteStream where Chunks.Element == Data {
        let opening = OnceFlag()
        let reading = OnceFlag()
        return {
            guard opening.take() else { throw BodySpentError() }
            return ByteStream {
                guard reading.take() else { return { throw BodySpentError() } }
                var iterator = chunks.makeAsyncIterator()
                return { try await iterator.next() }
            }
        }
    }

    /// The same bytes, checked against their declared length. The server would read surplus bytes as the next request,
    /// and would wait for missing ones.
    /// - Parameters:
    ///   - length: The declared number of bytes; `nil` checks nothing.
    ///   - subject: The name of the stream in error texts.
    func exactly(_ length: Int64?, of subject: String) throws(InvalidRequestError) -> ByteStream {
        guard let length else { return self }
        guard length >= 0 else { throw InvalidRequestError("\(subject) cannot have a length of \(length) bytes.") }
        return ByteStream {
            let iterator = makeAsyncIterator()
            var rest = length
            return {
                guard let chunk = try await iterator.next() else {
                    guard rest == 0 else {
                        throw InvalidRequestError(
                            "\(subject) ended \(rest) bytes before its declared length of \(length) bytes.")
                    }
                    return nil
                }
                guard chunk.count <= rest else {
                    throw InvalidRequestError("\(subject) has more bytes than its declared length of \(length) bytes.")
                }
                rest -= Int64(chunk.count)
                return chunk
            }
        }
    }
}

/// A flag that can be taken once.
private final class OnceFlag: Sendable {
    private let isTaken = Locked(false)

    /// - Returns: Whether this was the first call.
    func take() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }
}
