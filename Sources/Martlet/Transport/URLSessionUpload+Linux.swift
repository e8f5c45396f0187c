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
        private let file: TemporaryFile?

        init(_ body: OutgoingBody?, request: URLRequest, session: URLSession) async throws {
            guard let body else {
                self.file = nil
                self.task = session.dataTask(with: request)
                return
            }
            var pieces = OutgoingPieces(body)
            var bytes = Data()
            if case .bytes(let all) = body.content {
                bytes = all
            } else {
                while bytes.count <= Self.maximumInMemory, let piece = try await pieces.next() { bytes.append(piece) }
                guard bytes.count <= Self.maximumInMemory else {
                    let file = try await TemporaryFile(bytes, then: pieces)
                    self.file = file
                    self.task = session.uploadTask(with: request, fromFile: file.url)
                    return
                }
            }
            self.file = nil
            // Not `httpBody`, with which a POST gets the content type of a form. No bytes are no body: else a GET fails.
            self.task =
                bytes.isEmpty ? session.dataTask(with: request) : session.uploadTask(with: request, from: bytes)
        }

        static func adjust(_ configuration: URLSessionConfiguration) {}

        func start(for exchange: URLSessionExchange) {
            task.resume()
        }

        /// Asked for only to send a body again.
        func takeStream() -> InputStream? { nil }

        func stop() {}
    }

    /// A file that is deleted when it is released, readable by this user only. What a killed process leaves is deleted with
    /// the next file that is made.
    private final class TemporaryFile: @unchecked Sendable {
        private static let prefix = "martlet-upload-"

        let url: URL
        // `@unchecked` is right because the handle is set in `init` and only held then: it keeps the file locked.
        private let handle: FileHandle

        init(_ start: Data, then pieces: consuming OutgoingPieces) async throws {
            let folder = FileManager.default.temporaryDirectory
            Leftovers.remove(from: folder.path) { $0.hasPrefix(Self.prefix) }
            self.url = folder.appendingPathComponent(Self.prefix + UUID().uuidString)
            guard
                FileManager.default.createFile(
                    atPath: url.path, contents: start, attributes: [.posixPermissions: 0o600])
            else { throw TransportError.invalidRequest("there is no room for its body on disk") }
            do {
                self.handle = try FileHandle(forWritingTo: url)
                _ = Leftovers.claim(handle.fileDescriptor)
                try handle.seekToEnd()
            } catch {
                try? FileManager.default.removeItem(at: url)
                throw TransportError.bodyFailed(error)
            }
            while let piece = try await pieces.next() {
                do {
                    try handle.write(contentsOf: piece)
                } catch {
                    throw TransportError.bodyFailed(error)
                }
            }
        }

        deinit {
            // If it cannot be deleted, nobody is left who could do better.
            try? FileManager.default.removeItem(at: url)
        }
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
