#if canImport(FoundationNetworking) && (!os(Linux) || URLSession || !AsyncHTTPClient)
    internal import Foundation
    internal import FoundationNetworking

    /// A task that is ready to start, with its body, as FoundationNetworking needs it.
    ///
    /// FoundationNetworking reads an `InputStream` on the one queue that serves every transfer of the process, and waits
    /// there for what the stream has not got yet; nothing else moves meanwhile, nor can a task be cancelled. So a
    /// stream is read to its end before the task starts: into memory, and beyond a megabyte into a temporary file.
    final class URLSessionUpload: Sendable {
        /// libcurl does, for a second.
        static let waitsForContinue = true
        /// `suspend()` and `resume()` repeat bytes.
        static let canPause = false
        /// The challenge comes after the body, and what follows it is an error.
        static let challengeEndsAnswer = true
        /// What libcurl decodes.
        static let decodedEncodings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

        private static let maximumInMemory = 1024 * 1024

        let task: URLSessionTask
        private let file: SpooledBody?
        /// Told how much has gone out. Not what has been read, which is all of it before the first byte goes out.
        private let tell: (@Sendable (Int64) -> Void)?

        init(_ body: OutgoingBody?, request: URLRequest, session: URLSession) async throws {
            guard let body else {
                self.file = nil
                self.tell = nil
                self.task = session.dataTask(with: request)
                return
            }
            let counting = body.counting
            let count = counting?.begin()
            func tell(of total: Int) -> (@Sendable (Int64) -> Void)? {
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
                    counting?.madeHeadway()
                }
                guard bytes.count <= Self.maximumInMemory else {
                    let file = try await SpooledBody.make(bytes, then: pieces) { counting?.madeHeadway() }
                    self.file = file
                    self.tell = tell(of: file.count)
                    self.task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: file.path))
                    return
                }
            }
            self.file = nil
            self.tell = tell(of: bytes.count)
            // Not `httpBody`, with which a POST gets the content type of a form. No bytes are no body: else a GET fails.
            self.task =
                bytes.isEmpty ? session.dataTask(with: request) : session.uploadTask(with: request, from: bytes)
        }

        static func adjust(_ configuration: URLSessionConfiguration) {}

        func start(for exchange: URLSessionExchange) {
            tell?(0)
            task.resume()
        }

        /// So much of the body has gone out.
        func hasSent(_ count: Int64) {
            // Who reads the file has opened it.
            file?.removeName()
            tell?(count)
        }

        /// Asked for only to send a body again.
        func takeStream() -> InputStream? { nil }

        func stop() {}
    }

    extension TransportError {
        /// What the texts of libcurl tell, where FoundationNetworking has no code for it.
        static func refined(_ error: URLError, hasHead: Bool) -> TransportError? {
            let text = error.localizedDescription.lowercased()
            switch error.code {
            case .unsupportedURL:
                // The scheme was looked at before: this is an answer that is not HTTP.
                return .invalidResponse("it is not HTTP")
            case .badServerResponse where !hasHead:
                return .connectionLost("the server closed the connection")
            case .unknown:
                if text.contains("certificate") { return .tlsFailed("the server's certificate is not valid") }
                if text.contains("ssl") || text.contains("tls") { return .tlsFailed("the handshake failed") }
                if text.contains("unreachable") { return .offline }
                if text.contains("header") || text.contains("weird") {
                    return .invalidResponse("its header fields are too large or not HTTP")
                }
                return hasHead ? .connectionLost("the answer ended early") : nil
            default:
                return nil
            }
        }
    }
#endif
