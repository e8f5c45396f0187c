#if canImport(FoundationNetworking) && (!os(Linux) || URLSession || !AsyncHTTPClient)
    internal import Foundation
    internal import FoundationNetworking

    /// A task that is ready to start, with its body, for FoundationNetworking.
    ///
    /// FoundationNetworking reads an `InputStream` on the one queue that serves all transfers of the process, and
    /// blocks that queue until the stream has data. No other transfer continues, and no task can be cancelled. A stream
    /// is therefore read completely before the task starts: into memory, or into a temporary file if it has more than a
    /// megabyte.
    final class URLSessionUpload: Sendable {
        /// libcurl waits for a second.
        static let waitsForContinue = true
        /// After `suspend()` and `resume()`, the session delivers some bytes twice.
        static let canPause = false
        /// The session reports the challenge after the body, and then an error.
        static let challengeEndsResponse = true

        private static let maximumInMemory = 1024 * 1024

        let task: URLSessionTask
        private let file: SpooledBody?
        /// Reports how much has been sent, not how much has been read: the whole body is read before the first byte is
        /// sent.
        private let report: (@Sendable (Int64) -> Void)?

        init(_ body: OutgoingBody?, request: URLRequest, session: URLSession) async throws {
            guard let body else {
                self.file = nil
                self.report = nil
                self.task = session.dataTask(with: request)
                return
            }
            let counting = body.counting
            let count = counting?.begin()
            func report(of total: Int) -> (@Sendable (Int64) -> Void)? {
                guard let count else { return nil }
                let total = Int64(total)
                return { count(TransferCount(completed: min($0, total), total: total)) }
            }
            var pieces = OutgoingPieces(counting.map { OutgoingBody($0.uncounted, length: body.length) } ?? body)
            var bytes = Data()
            if case .bytes(let all) = body.content {
                bytes = all
            } else {
                while bytes.count <= Self.maximumInMemory, let piece = try await pieces.next() {
                    bytes.append(piece)
                    counting?.onProgress()
                }
                guard bytes.count <= Self.maximumInMemory else {
                    let file = try await SpooledBody.make(bytes, then: pieces) { counting?.onProgress() }
                    self.file = file
                    self.report = report(of: file.count)
                    self.task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: file.path))
                    return
                }
            }
            self.file = nil
            self.report = report(of: bytes.count)
            // Not `httpBody`, which adds the content type of a form to a POST. An empty body is sent as none, because a
            // GET with a body fails.
            self.task =
                bytes.isEmpty ? session.dataTask(with: request) : session.uploadTask(with: request, from: bytes)
        }

        static func adjust(_ configuration: URLSessionConfiguration) {}

        /// The queue of the callbacks, which must arrive one after the other.
        static func makeCallbackQueue() -> OperationQueue { CallbackQueue() }

        func start(for exchange: URLSessionExchange) {
            report?(0)
            task.resume()
        }

        func reportSent(_ count: Int64) {
            // FoundationNetworking has opened the file by now.
            file?.removeName()
            report?(count)
        }

        /// Always `nil`: the session asks for a stream only to send a body again.
        func takeStream() -> InputStream? { nil }

        func stop() {}
    }

    /// Runs the callbacks of a session without an `Operation` for each: it would cost more than the callback.
    private final class CallbackQueue: OperationQueue, @unchecked Sendable {
        // `@unchecked Sendable` is right because the only property is a `Sendable` constant.
        private let queue = BlockingQueue("martlet.urlsession")

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            queue.start(block)
        }
    }

    extension TransportError {
        /// Whether the body has a coding that libcurl does not know, or more codings than it accepts.
        static func isUndecodable(_ error: URLError) -> Bool {
            error.code == .unknown && error.localizedDescription.lowercased().contains("content encoding")
        }

        /// Interprets the messages of libcurl if FoundationNetworking has no error code.
        static func refined(_ error: URLError, hasHead: Bool) -> TransportError? {
            let text = error.localizedDescription.lowercased()
            switch error.code {
            case .unsupportedURL:
                // The scheme has been checked before, so the response is not HTTP.
                return .invalidResponse("it is not HTTP")
            case .badServerResponse where !hasHead:
                return .connectionLost("the server closed the connection")
            case .unknown:
                if isUndecodable(error) { return .invalidResponse("its body cannot be decompressed") }
                if text.contains("wrong version number") {
                    return .tlsFailed("the server does not speak TLS on this port")
                }
                if text.contains("certificate") { return .tlsFailed("the server's certificate is not valid") }
                if text.contains("ssl") || text.contains("tls") { return .tlsFailed("the handshake failed") }
                if text.contains("unreachable") { return .offline }
                if text.contains("header") || text.contains("weird") {
                    return .invalidResponse("its header fields are too large or not HTTP")
                }
                return hasHead ? .connectionLost("the response ended early") : nil
            default:
                return nil
            }
        }
    }
#endif
