#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The body of a response, in the pieces in which it arrives. See ``NetworkClient/stream(_:monitor:)-(Endpoint,_)``.
///
/// Iterating throws ``NetworkError``. The body can be read once; a second pass throws
/// ``NetworkError/invalidResponse(_:reason:)``.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// The error that iterating throws.
    public typealias Failure = NetworkError

    private let stream: ByteStream
    private let call: CallDescription

    /// - Parameter call: The call that the errors name.
    init(_ stream: ByteStream, of call: CallDescription) {
        self.stream = stream
        self.call = call
    }

    /// One pass over the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let iterator: ByteStream.AsyncIterator
        private let call: CallDescription

        fileprivate init(_ iterator: ByteStream.AsyncIterator, of call: CallDescription) {
            self.iterator = iterator
            self.call = call
        }

        /// The next piece, or `nil` at the end.
        /// - Throws: ``NetworkError``.
        public mutating func next() async throws(NetworkError) -> Data? {
            do {
                return try await iterator.next()
            } catch {
                throw AttemptRunner.wrap(error, call: call)
            }
        }

        /// The next piece, or `nil` at the end, for a caller on an actor. A `for try await` loop calls it, and throws errors
        /// of the type ``NetworkError``.
        /// - Throws: ``NetworkError``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetworkError) -> Data? {
            // Safe: the caller has exclusive access to the iterator, and waits until the copy comes back.
            nonisolated(unsafe) var iterator = self
            defer { self = iterator }
            return try await iterator.next()
        }
    }

    /// Starts a pass.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream.makeAsyncIterator(), of: call)
    }

    /// Reads the whole body into memory.
    /// - Parameter limit: The largest number of bytes to accept.
    /// - Throws: ``NetworkError``: ``NetworkError/responseTooLarge(_:limit:)`` if the body has more than `limit` bytes.
    public func collect(upTo limit: Int) async throws(NetworkError) -> Data {
        do {
            return try await stream.collect(upTo: limit)
        } catch {
            throw AttemptRunner.wrap(error, call: call)
        }
    }
}
