import HTTPTypes
import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A film that all callers download to the same path.
struct FilmEndpoint: APIEndpoint {
    static let prefix = "/film"

    let authentication: AuthenticationRequirement

    var path: RequestPath { "/film" }
}

/// A real folder for the downloads of one schedule, which is made when the first one begins.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class DownloadFolder: @unchecked Sendable {
    private var path: String?

    func film() throws -> String {
        if let path { return "\(path)/film" }
        // Keep the files in memory if the system has a folder for that.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let parent =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        let folder = parent.appendingPathComponent("martlet-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        path = folder.path
        return "\(folder.path)/film"
    }

    func remove() {
        if let path { try? FileManager.default.removeItem(atPath: path) }
        path = nil
    }
}

extension SimulatedProcess {
    /// Downloads the film, and reads which users the server made its bytes for.
    func download(_ requirement: AuthenticationRequirement, _ folder: DownloadFolder) async -> Reply {
        var options = DownloadOptions()
        options.keepsPartial = true
        do {
            let path = try folder.film()
            let file = try await client.download(
                FilmEndpoint(authentication: requirement), to: path, options: options
            ).value
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            return .film(families: Set(bytes.map(Int.init)), size: bytes.count, resumed: Int(file.resumedBytes))
        } catch {
            return (error as? NetworkError).map { .failed($0) } ?? .done
        }
    }
}

extension SimulatedServer {
    static let filmLength = 300
    private static let pieceLength = 50

    /// The film, or the rest of it. Each byte is the number of the session that the request belongs to.
    func film(_ request: HTTPRequest, for family: Int, _ power: ProcessLife) -> Response {
        let range = request.headerFields[.range]
        let start = range.flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) } ?? 0
        var fields: HTTPFields = [
            .acceptRanges: "bytes", .eTag: "\"film\"", .contentLength: "\(max(Self.filmLength - start, 0))",
        ]
        guard start < Self.filmLength else {
            fields = [.contentRange: "bytes */\(Self.filmLength)"]
            return (head: HTTPResponse(status: .rangeNotSatisfiable, headerFields: fields), body: ByteStream(Data()))
        }
        if range != nil { fields[.contentRange] = "bytes \(start)-\(Self.filmLength - 1)/\(Self.filmLength)" }
        let breaksAt = isCalm || dice.isTrue(inPercent: 25) ? nil : start + dice.number(below: Self.filmLength - start)
        let body = ByteStream { [self] in
            var position = start
            return { [self] () async throws -> Data? in
                guard position < Self.filmLength else { return nil }
                await wait(for: isCalm ? .zero : dice.pick([.zero, .milliseconds(20), .seconds(2)]))
                guard power.isOn else { throw PowerCut() }
                try Task.checkCancellation()
                if let breaksAt, position >= breaksAt { throw TransportError.connectionLost("reset by peer") }
                let count = min(Self.pieceLength, Self.filmLength - position)
                position += count
                return Data(repeating: UInt8(truncatingIfNeeded: family), count: count)
            }
        }
        return (head: HTTPResponse(status: range == nil ? .ok : .partialContent, headerFields: fields), body: body)
    }
}
