#if os(Linux) && canImport(Glibc) && (URLSession || !AsyncHTTPClient)
    import Foundation
    import MartletTesting
    import MartletTestSupport
    import Testing

    @testable import Martlet

    @Suite("A URLSession upload from a temporary file", .noBlockingCalls, .timeLimit(.minutes(10)))
    struct SpooledUploadTests {
        private static let (pieces, pieceSize) = (32, 1 << 20)

        @Test("the file has no name while it is sent, and progress follows the bytes sent") func held() async throws {
            let server = try HoldingServer()
            let total = Int64(Self.pieces * Self.pieceSize)
            let client = NetworkClient(
                baseURL: BaseURL("http://127.0.0.1:\(server.port)"), config: config { $0.time = ManualTimeSource() },
                transport: URLSessionTransport())
            let body = RequestBody.stream(length: nil, contentType: nil) {
                ByteStream(Chunks(chunks: Array(repeating: Data(count: Self.pieceSize), count: Self.pieces)))
            }
            let monitor = TransferMonitor(interval: .zero)
            let events = monitor.events
            async let response = client.send(Call<NoContent>.post("/", body, authentication: .none), monitor: monitor)
            for await event in events {
                if case .sent(let count) = event, count.completed > 0 { break }
            }
            // The connection's buffers cannot hold the whole body while the server reads nothing.
            #expect(monitor.sent.completed < total)
            #expect(monitor.sent.total == total)
            let open = Self.openFiles()
            #expect(!open.isEmpty)
            #expect(open.filter { !$0.hasSuffix(" (deleted)") } == [])
            server.readBody()
            _ = try await response
            #expect(server.receivedBytes == Int(total))
            #expect(monitor.sent == TransferCount(completed: total, total: total))
        }

        /// The temporary upload files open in this process. The system marks deleted ones.
        private static func openFiles() -> [String] {
            let folder = "/proc/self/fd"
            let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return numbers.compactMap { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
                return target.flatMap { $0.contains("martlet-upload-") ? $0 : nil }
            }
        }
    }
#endif
