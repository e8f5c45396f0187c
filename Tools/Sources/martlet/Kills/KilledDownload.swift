internal import Foundation
internal import HTTPTypes
internal import Martlet

/// Downloads that are killed midway, and the check of the files that they leave.
///
/// The downloaded file must be complete or absent, and no other file may remain. A download that replaces a file may
/// leave one hidden file, which the next download must remove.
enum KilledDownload {
    private static let pieces = 16
    private static let pieceSize = 64 * 1024
    private static let name = "download"
    /// The subfolder in which downloads replace an existing file.
    private static let replacing = "replacing"

    /// The state of the folder after a kill.
    struct Inspection: Sendable {
        var isTorn = false
        /// Files that should not exist.
        var leftovers: [String] = []
        /// The number of hidden files that the next download to the same path removed.
        var removed = 0
    }

    /// Downloads repeatedly, to a new path and over an existing file, until this process is killed.
    static func download(in folder: String) async throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(replacing)", withIntermediateDirectories: true)
        while true {
            unlink("\(folder)/\(name)")
            try await fetch(to: folder)
            try await fetch(to: "\(folder)/\(replacing)")
        }
    }

    /// Checks the files, and downloads once more to see that hidden files are removed.
    static func inspect(_ folder: String) async throws -> Inspection {
        var found = Inspection()
        for folder in [folder, "\(folder)/\(replacing)"] where FileManager.default.fileExists(atPath: folder) {
            let path = "\(folder)/\(name)"
            if FileManager.default.fileExists(atPath: path), FileManager.default.contents(atPath: path) != content {
                found.isTorn = true
            }
            let before = hidden(in: folder)
            try await fetch(to: folder)
            let after = hidden(in: folder)
            found.removed += before.count - after.count
            found.leftovers += after
            // On Linux a new file is written without a name. Other systems have no anonymous files.
            #if os(Linux)
                if !folder.hasSuffix("/\(replacing)") { found.leftovers += before }
            #endif
        }
        return found
    }

    private static func hidden(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(".martlet-download-") }
    }

    private static func fetch(to folder: String) async throws {
        let client = NetworkClient(baseURL: "http://localhost", transport: Server())
        try await client.download(Call<NoContent>.get("/", authentication: .none), to: "\(folder)/\(name)")
    }

    private static let content = Data((0..<pieces).flatMap { [UInt8](repeating: UInt8($0), count: pieceSize) })

    /// Sends the file in pieces, so that a kill can hit between any two of them.
    private struct Server: Transport {
        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
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
            return (head: head, body: stream)
        }
    }
}
