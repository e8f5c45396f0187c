#if canImport(Darwin)
    internal import Foundation

    /// A task that is ready to start, with its body.
    ///
    /// A stream goes through a pair of bound streams. The session reads one end as fast as the network takes it, and
    /// the body is read no faster than that: a buffer and a piece are all that is held of it.
    final class URLSessionUpload: Sendable {
        /// Nothing is documented about `Expect`.
        static let waitsForContinue = false
        /// A suspended task produces no traffic until it is resumed.
        static let canPause = true
        /// A challenge that is rejected is followed by the rest of the answer.
        static let challengeEndsAnswer = false
        /// What the loading system decodes.
        static let decodedEncodings: Set<String> = ["gzip", "x-gzip", "deflate", "br"]

        let task: URLSessionTask
        private let body: OutgoingBody?
        private let state = Locked(State())

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
                // Not `httpBody`, with which a POST gets the content type of a form.
                self.task =
                    bytes.isEmpty ? session.dataTask(with: request) : session.uploadTask(with: request, from: bytes)
            case .stream:
                var request = request
                // With it the bytes go out as they are, without it in chunks.
                if let length = body?.length { request.setValue(String(length), forHTTPHeaderField: "Content-Length") }
                self.body = body
                self.task = session.uploadTask(withStreamedRequest: request)
            }
        }

        static func adjust(_ configuration: URLSessionConfiguration) {
            // A device without a network says so at once.
            configuration.waitsForConnectivity = false
        }

        func start(for exchange: URLSessionExchange) {
            if body != nil { state.withLock { $0.exchange = exchange } }
            task.resume()
        }

        /// The stream for the session, which asks when it is ready to send; only once, unless the body stands in memory.
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

        /// Ends the reading of the body; the task is done.
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
    /// `@unchecked Sendable` is right because `output` and `waiting` are touched on `queue` alone, where the stream's
    /// events come in as well, and `reader` is behind its lock.
    private final class BodyPipe: NSObject, StreamDelegate, @unchecked Sendable {
        private static let bufferSize = 64 * 1024

        private let queue = DispatchQueue(label: "martlet.body")
        private let output: OutputStream
        private var waiting: (piece: Data, writer: CheckedContinuation<Void, any Error>)?
        private let reader = Locked<Task<Void, Never>?>(nil)

        private struct Closed: Error {}

        private init(_ output: OutputStream) {
            self.output = output
        }

        /// The session's end, and the one to write to.
        static func make() -> (InputStream, BodyPipe)? {
            var input: InputStream?
            var output: OutputStream?
            Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
            guard let input, let output else { return nil }
            return (input, BodyPipe(output))
        }

        /// Reads the body and writes it, then closes the stream; calls `onFailure` with what the body threw.
        func send(_ body: OutgoingBody, onFailure: @escaping @Sendable (any Error) -> Void) {
            queue.sync {
                output.delegate = self
                // Events come on the queue; there need be no run loop.
                CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
                output.open()
            }
            let task = Task {
                var pieces = OutgoingPieces(body)
                do {
                    while let piece = try await pieces.next() { try await write(piece) }
                    close()
                } catch is Closed {
                    // The task is done, and has said why.
                } catch {
                    // The stream stays open until the task is cancelled: closed, it would look like a whole body.
                    onFailure(error)
                }
            }
            reader.withLock { $0 = task }
        }

        /// Ends the reading and the stream.
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

        /// Writes while there is room; the rest is written when the stream tells of more.
        private func writeOn() {
            guard output.streamStatus != .closed, output.streamStatus != .error else {
                return resume(throwing: Closed())
            }
            while let (piece, writer) = waiting, output.hasSpaceAvailable {
                let count = piece.withUnsafeBytes { bytes -> Int in
                    // A piece is never empty, so that there is a base address.
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
        /// Apple's codes say all there is.
        static func refined(_ error: URLError, hasHead: Bool) -> TransportError? { nil }
    }
#endif
