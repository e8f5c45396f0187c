#if os(Linux) && canImport(Glibc) && (URLSession || !AsyncHTTPClient)
    import Foundation
    import Testing

    @testable import Martlet

    @Suite("An upload that URLSession takes from a temporary file") struct SpooledUploadTests {
        private static let (pieces, pieceSize) = (32, 1 << 20)

        @Test("has no name on the disk while it goes out, and counts as it goes out") func held() async throws {
            let server = try HoldingServer()
            let total = Int64(Self.pieces * Self.pieceSize)
            let client = NetworkClient(
                baseURL: BaseURL("http://127.0.0.1:\(server.port)"), transport: URLSessionTransport())
            let body = RequestBody.stream(length: nil, contentType: nil) {
                ByteStream(Chunks(chunks: Array(repeating: Data(count: Self.pieceSize), count: Self.pieces)))
            }
            let monitor = TransferMonitor(interval: .zero)
            let events = monitor.events
            async let answer = client.send(Call<Empty>.post("/", body, authentication: .none), monitor: monitor)
            for await event in events {
                if case .sent(let count) = event, count.completed > 0 { break }
            }
            // More than connections hold, which nobody reads from.
            #expect(monitor.sent.completed < total)
            #expect(monitor.sent.total == total)
            let open = Self.openFiles()
            #expect(!open.isEmpty)
            #expect(open.filter { !$0.hasSuffix(" (deleted)") } == [])
            server.take()
            _ = try await answer
            #expect(server.taken == Int(total))
            #expect(monitor.sent == TransferCount(completed: total, total: total))
        }

        /// Bodies that this process has open. The system says so of those whose name is gone.
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
