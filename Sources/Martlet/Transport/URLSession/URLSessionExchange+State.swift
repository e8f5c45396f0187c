#if !os(Linux) || URLSession || !AsyncHTTPClient
    internal import Foundation
    internal import HTTPTypes

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    extension URLSessionExchange {
        /// The state of the exchange, and the tasks that wait for the response.
        struct State {
            var task: URLSessionTask?
            var queue: OperationQueue?
            /// The task that waits for the head.
            var sender: CheckedContinuation<HTTPResponse, any Error>?
            /// The task that waits for a chunk of the body.
            var reader: CheckedContinuation<Data?, any Error>?
            /// The task that waits for the whole response, and the number of bytes that it accepts.
            var caller: CheckedContinuation<Void, any Error>?
            var maximumCount: Int?
            var isTooLarge = false
            var head: HTTPResponse?
            /// The head, while the first bytes of the body are needed to tell which codings the session has decoded.
            var undecided: HTTPResponse?
            var hasHead = false
            var hasSentHead = false
            /// The buffered chunks that are read after ``nextPieces``.
            var pieces: [Data] = []
            /// The buffered chunks that are read next, the first one last. Removing the first element of an array would
            /// move all others.
            private var nextPieces: [Data] = []
            var buffered = 0
            var isPaused = false
            /// The end of the body for the caller, after the buffered chunks; `nil` while more may arrive.
            var end: Result<Void, any Error>?
            /// The session has finished the session task, which must not be cancelled any more.
            var isOver = false
            /// The session task has been cancelled.
            var wasCancelled = false
            /// The session waits for the result of the redirect callback; on Linux the task must not be cancelled
            /// before that.
            var isRedirecting = false
            /// Retained until the task has finished.
            var upload: URLSessionUpload?
        }
    }

    extension URLSessionExchange.State {
        /// The head of the response, and the task that waits for it.
        typealias Decision = (sender: CheckedContinuation<HTTPResponse, any Error>?, head: HTTPResponse)

        /// Receives the head, and decides which codings it announces if that does not depend on the body.
        mutating func receive(_ head: HTTPResponse, hasBody: Bool) -> Decision? {
            isRedirecting = false
            hasHead = true
            guard hasBody else { return settle(head) }
            undecided = head
            return decide()
        }

        /// Decides which codings the head announces, if enough bytes have arrived.
        mutating func decide(_ data: Data? = nil, isComplete: Bool = false) -> Decision? {
            guard let undecided else { return nil }
            var start = pieces.reduce(into: Data()) { $0 += $1 }
            if let data { start += data }
            return undecided.decoded(start, isComplete: isComplete).map { settle($0) }
        }

        /// Removes the first of the buffered chunks.
        mutating func nextPiece() -> Data? {
            if nextPieces.isEmpty {
                nextPieces = pieces.reversed()
                pieces = []
            }
            return nextPieces.popLast()
        }

        private mutating func settle(_ head: HTTPResponse) -> Decision {
            self.head = head
            undecided = nil
            defer { sender = nil }
            return (sender, head)
        }
    }
#endif
