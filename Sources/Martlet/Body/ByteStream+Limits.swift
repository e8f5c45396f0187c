#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A one-shot body was asked for a second time.
struct BodySpent: Error {}

extension ByteStream {
    /// Opens a sequence that can be read only once: the second opening, and a second pass over what the first one gave,
    /// throw ``BodySpent``.
    static func openedOnce<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks
    ) -> @Sendable () throws -> ByteStream where Chunks.Element == Data {
        let opening = Turn()
        let passing = Turn()
        return {
            guard opening.take() else { throw BodySpent() }
            return ByteStream {
                guard passing.take() else { return { throw BodySpent() } }
                var iterator = chunks.makeAsyncIterator()
                return { try await iterator.next() }
            }
        }
    }

    /// The same bytes, held to the length that was announced for them: a byte more or less on the wire would be read as
    /// a part of the next thing.
    /// - Parameters:
    ///   - length: How many bytes there must be; anything goes where `nil`.
    ///   - whose: What the error calls it.
    func exactly(_ length: Int64?, of whose: String) throws(RequestProblem) -> ByteStream {
        guard let length else { return self }
        guard length >= 0 else { throw RequestProblem("\(whose) cannot have a length of \(length) bytes.") }
        return ByteStream {
            let iterator = makeAsyncIterator()
            var rest = length
            return {
                guard let chunk = try await iterator.next() else {
                    guard rest == 0 else {
                        throw RequestProblem("\(whose) ended \(rest) bytes short of the \(length) announced.")
                    }
                    return nil
                }
                guard chunk.count <= rest else {
                    throw RequestProblem("\(whose) has more than the \(length) bytes announced.")
                }
                rest -= Int64(chunk.count)
                return chunk
            }
        }
    }
}

/// Something that only the first to ask may do.
private final class Turn: Sendable {
    private let isTaken = Locked(false)

    func take() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }
}
