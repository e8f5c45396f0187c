#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The body of a response, in the chunks in which it arrives. See ``NetworkClient/stream(_:monitor:)-(Endpoint,_)``.
///
/// Iterating throws ``NetworkError``. The body can be read once; a second pass throws
/// ``NetworkError/invalidResponse(_:reason:)``.
public struct ResponseBytes: AsyncSequence, Sendable {
    /// The error that iterating throws.
    public typealias Failure = NetworkError

    private let stream: ByteStream
    private let failures: Failures

    /// - Parameters:
    ///   - call: The call that the errors name.
    ///   - report: Receives the error if the body breaks off.
    init(_ stream: ByteStream, of call: CallDescription, reportingTo report: (any OutcomeReport)?) {
        self.stream = stream
        self.failures = Failures(call: call, report: report)
    }

    /// Converts errors of the body to errors of the call.
    private struct Failures {
        let call: CallDescription
        let report: (any OutcomeReport)?

        func failure(from error: any Error) -> NetworkError {
            let failure = ExchangeRunner.wrap(error, call: call)
            abandon(failure)
            return failure
        }

        func abandon(_ failure: NetworkError) {
            report?.streamBroke(failure)
        }
    }

    /// One pass over the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let iterator: ByteStream.AsyncIterator
        private let failures: Failures
        /// Whether the pass has ended, or failed. Then there is nothing more to read.
        private var isOver = false

        fileprivate init(_ bytes: ResponseBytes) {
            self.iterator = bytes.stream.makeAsyncIterator()
            self.failures = bytes.failures
        }

        /// The next piece, or `nil` at the end and after an error.
        /// - Throws: ``NetworkError``.
        public mutating func next() async throws(NetworkError) -> Data? {
            guard !isOver else { return nil }
            do {
                let piece = try await iterator.next()
                isOver = piece == nil
                return piece
            } catch {
                isOver = true
                throw failures.failure(from: error)
            }
        }

        /// Reports why the reader ends the pass.
        func abandon(because failure: NetworkError) {
            failures.abandon(failure)
        }

        /// The next piece, or `nil` at the end, for a caller on an actor. A `for try await` loop calls it, and throws
        /// errors of the type ``NetworkError``.
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
        AsyncIterator(self)
    }

    /// Reads the whole body into memory.
    /// - Parameter limit: The largest number of bytes to accept.
    /// - Throws: ``NetworkError``: ``NetworkError/responseTooLarge(_:limit:)`` if the body has more than `limit` bytes.
    public func collect(upTo limit: Int) async throws(NetworkError) -> Data {
        do {
            return try await stream.collect(upTo: limit)
        } catch {
            throw failures.failure(from: error)
        }
    }
}
