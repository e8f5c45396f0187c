internal import Foundation
internal import HTTPTypes
internal import Martlet

/// A download that is killed: its file must be whole or not there, and nothing else may be left of it.
enum KilledDownload {
    private static let pieces = 16
    private static let pieceSize = 64 * 1024
    private static let name = "download"

    /// What a kill has left.
    struct Remains: Sendable {
        var isTorn = false
        /// Files that are no whole download.
        var leftovers: [String] = []
    }

    /// Downloads again and again, to where nothing is, until somebody ends this process.
    static func download(in folder: String) async throws {
        let client = NetworkClient(baseURL: "http://localhost", transport: Server())
        let path = "\(folder)/\(name)"
        while true {
            unlink(path)
            try await client.download(Call<Empty>.get("/", authentication: .none), to: path)
        }
    }

    static func remains(in folder: String) -> Remains {
        var remains = Remains()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        // Where files have names all the time, the next download clears away what a killed one has left.
        #if os(Linux)
            remains.leftovers = names.filter { $0.hasPrefix(".martlet-download-") }
        #endif
        if names.contains(name), FileManager.default.contents(atPath: "\(folder)/\(name)") != content {
            remains.isTorn = true
        }
        return remains
    }

    private static let content = Data((0..<pieces).flatMap { [UInt8](repeating: UInt8($0), count: pieceSize) })

    /// Sends the file in pieces, so that a kill can come between any two.
    private struct Server: Transport {
        func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
            let stream = ByteStream {
                var next = 0
                return {
                    guard next < pieces else { return nil }
                    defer { next += 1 }
                    await Task.yield()
                    return content.dropFirst(next * pieceSize).prefix(pieceSize)
                }
            }
            let head = HTTPResponse(
                status: .ok, headerFields: [.contentLength: "\(pieces * pieceSize)", .eTag: "\"film\""])
            return TransportResponse(head: head, body: stream)
        }
    }
}
