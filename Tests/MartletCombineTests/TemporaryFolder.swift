import Foundation
import Martlet

/// A private folder for one test, deleted when the test ends.
struct TemporaryFolder: Sendable {
    let path: String

    /// The names of all files in the folder, including hidden ones.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? ["the folder cannot be read"]
    }

    static func with<Result>(_ body: (TemporaryFolder) async throws -> Result) async throws -> Result {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(TemporaryFolder(path: url.path))
    }
}

extension ByteStream {
    /// Delivers zeros in pieces.
    /// - Parameter hook: Called with the position of each piece before it is delivered.
    static func zeros(
        _ count: Int, pieceSize: Int = 1000, before hook: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) -> ByteStream {
        ByteStream {
            var position = 0
            return {
                guard position < count else { return nil }
                try await hook(position)
                defer { position += pieceSize }
                return Data(count: Swift.min(pieceSize, count - position))
            }
        }
    }
}
