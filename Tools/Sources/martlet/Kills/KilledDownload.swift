internal import Foundation
internal import HTTPTypes
internal import Martlet

/// A download that is killed: its file must be whole or not there, and nothing else may be left of it. One that replaces
/// a file may leave a hidden one, which the next has to clear away.
enum KilledDownload {
    private static let pieces = 16
    private static let pieceSize = 64 * 1024
    private static let name = "download"
    /// The folder of those that replace a file.
    private static let replacing = "replacing"

    /// What a kill has left.
    struct Remains: Sendable {
        var isTorn = false
        /// Files that are no whole download and should not be there.
        var leftovers: [String] = []
        /// How many were there until the next download to the same place.
        var cleared = 0
    }

    /// Downloads again and again, to where nothing is and to where a file is, until somebody ends this process.
    static func download(in folder: String) async throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(replacing)", withIntermediateDirectories: true)
        while true {
            unlink("\(folder)/\(name)")
            try await fetch(to: folder)
            try await fetch(to: "\(folder)/\(replacing)")
        }
    }

    /// Looks at what is there, and downloads once more to see that what may be left is cleared away.
    static func remains(in folder: String) async throws -> Remains {
        var remains = Remains()
        for folder in [folder, "\(folder)/\(replacing)"] where FileManager.default.fileExists(atPath: folder) {
            let path = "\(folder)/\(name)"
            if FileManager.default.fileExists(atPath: path), FileManager.default.contents(atPath: path) != content {
                remains.isTorn = true
            }
            let before = hidden(in: folder)
            try await fetch(to: folder)
            let after = hidden(in: folder)
            remains.cleared += before.count - after.count
            remains.leftovers += after
            // Elsewhere files have names all the time.
            #if os(Linux)
                if !folder.hasSuffix("/\(replacing)") { remains.leftovers += before }
            #endif
        }
        return remains
    }

    private static func hidden(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(".martlet-download-") }
    }

    private static func fetch(to folder: String) async throws {
        let client = NetworkClient(baseURL: "http://localhost", transport: Server())
        try await client.download(Call<Empty>.get("/", authentication: .none), to: "\(folder)/\(name)")
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
