#if canImport(Darwin)
    internal import Foundation

    /// A task that is ready to start, with its body.
    ///
    /// A streamed body passes through a pair of bound streams. The session reads one end as fast as the network accepts
    /// it, and the body is read no faster: only a buffer and one chunk are in memory.
    final class URLSessionUpload: Sendable {
        /// Apple does not document the behavior with `Expect`.
        static let waitsForContinue = false
        /// A suspended task produces no traffic until it is resumed.
        static let canPause = true
        /// The rest of the response follows a rejected challenge.
        static let challengeEndsResponse = false

        let task: URLSessionTask
        private let body: OutgoingBody?
        private let state = Locked(State())

        /// The exchange and the stream of a streamed body.
        private struct State {
            var exchange: URLSessionExchange?
            var pipe: BodyPipe?
            var isTaken = false
            var isOver = false
        }

        init(_ body: OutgoingBody?, request: URLRequest, session: URLSession) async throws {
            switch body?.content {
            case nil:
                self.body = nil
                self.task = session.dataTask(with: request)
            case .bytes(let bytes):
                self.body = nil
                // Not `httpBody`, which adds the content type of a form to a POST.
                self.task =
                    bytes.isEmpty ? session.dataTask(with: request) : session.uploadTask(with: request, from: bytes)
            case .stream:
                var request = request
                // With `Content-Length` the bytes are sent unchanged, without it in chunks.
                if let length = body?.length { request.setValue(String(length), forHTTPHeaderField: "Content-Length") }
                self.body = body
                self.task = session.uploadTask(withStreamedRequest: request)
            }
        }

        static func adjust(_ configuration: URLSessionConfiguration) {
            // With `false`, a request without a network fails at once.
            configuration.waitsForConnectivity = false
        }

        /// The queue of the callbacks, which must arrive one after the other.
        static func makeCallbackQueue() -> OperationQueue {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            return queue
        }

        func start(for exchange: URLSessionExchange) {
            if body != nil { state.withLock { $0.exchange = exchange } }
            task.resume()
        }

        /// The stream that the session asks for when it is ready to send. Available once, unless the body can be
        /// repeated.
        func takeStream() -> InputStream? {
            guard let body else { return nil }
            let (exchange, before) = state.withLock { state -> (URLSessionExchange?, BodyPipe?) in
                defer { state.isTaken = true }
                guard !state.isOver, !state.isTaken || body.isRepeatable else { return (nil, nil) }
                return (state.exchange, state.pipe)
            }
            guard let exchange, let (stream, pipe) = BodyPipe.make() else { return nil }
            before?.close()
            state.withLock { $0.pipe = pipe }
            pipe.send(body) { exchange.fail($0) }
            return stream
        }

        /// Stops reading the body when the task has finished.
        func stop() {
            let pipe = state.withLock { state in
                defer { state = State(isTaken: true, isOver: true) }
                return state.pipe
            }
            pipe?.close()
        }
    }

    /// Writes a body into one end of a pair of bound streams.
    ///
    /// `@unchecked Sendable` is right because `output` and `waiting` are accessed only on `queue`, which also delivers
    /// the stream's events, and `reader` is protected by its lock.
    private final class BodyPipe: NSObject, StreamDelegate, @unchecked Sendable {
        private static let bufferSize = 64 * 1024

        private let queue = DispatchQueue(label: "martlet.body")
        private let output: OutputStream
        private var waiting: (piece: Data, writer: CheckedContinuation<Void, any Error>)?
        private let reader = Locked<Task<Void, Never>?>(nil)

        /// The stream was closed before the whole body was written.
        private struct Closed: Error {}

        private init(_ output: OutputStream) {
            self.output = output
        }

        /// Creates the end for the session and the end to write to.
        static func make() -> (InputStream, BodyPipe)? {
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
            guard let input, let output else { return nil }
            return (input, BodyPipe(output))
        }

        /// Writes the body and closes the stream. Calls `onFailure` with the body's error.
        func send(_ body: OutgoingBody, onFailure: @escaping @Sendable (any Error) -> Void) {
            queue.sync {
                output.delegate = self
                // Events arrive on the queue, without a run loop.
                CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
                output.open()
            }
            let task = Task {
                var pieces = OutgoingPieces(body)
                do {
                    while let piece = try await pieces.next() { try await write(piece) }
                    close()
                } catch is Closed {
                    // The task has ended, and has reported the reason.
                } catch {
                    // Keep the stream open until the task is cancelled: a closed stream would look like a complete
                    // body.
                    onFailure(error)
                }
            }
            reader.withLock { $0 = task }
        }

        /// Stops the reader and closes the stream.
        func close() {
            let task = reader.withLock { reader in
                defer { reader = nil }
                return reader
            }
            task?.cancel()
            queue.async {
                self.output.delegate = nil
                CFWriteStreamSetDispatchQueue(self.output as CFWriteStream, nil)
                self.output.close()
                self.resume(throwing: Closed())
            }
        }

        private func write(_ piece: Data) async throws {
            try await withCheckedThrowingContinuation { writer in
                queue.async {
                    self.waiting = (piece, writer)
                    self.writeOn()
                }
            }
        }

        /// Writes while the stream has space. An event reports more space.
        private func writeOn() {
            guard output.streamStatus != .closed, output.streamStatus != .error else {
                return resume(throwing: Closed())
            }
            while let (piece, writer) = waiting, output.hasSpaceAvailable {
                let count = piece.withUnsafeBytes { bytes -> Int in
                    // A chunk is never empty, so it has a base address.
                    guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
                    return output.write(start, maxLength: bytes.count)
                }
                guard count > 0 else { return resume(throwing: Closed()) }
                guard count < piece.count else {
                    waiting = nil
                    return writer.resume()
                }
                waiting = (piece.dropFirst(count), writer)
            }
        }

        private func resume(throwing error: any Error) {
            let writer = waiting?.writer
            waiting = nil
            writer?.resume(throwing: error)
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            switch event {
            case .hasSpaceAvailable: writeOn()
            case .errorOccurred, .endEncountered: resume(throwing: Closed())
            default: break
            }
        }
    }

    extension TransportError {
        /// Apple's error codes are complete.
        static func refined(_ error: URLError, hasHead: Bool) -> TransportError? { nil }

        /// Whether the session could not decode the body.
        static func isUndecodable(_ error: URLError) -> Bool {
            error.code == .cannotDecodeRawData || error.code == .cannotDecodeContentData
        }
    }
#endif
