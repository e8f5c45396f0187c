import Foundation

/// The pictures of the package's own tests, which a simulator reads from the Mac's disk.
enum Fixtures {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Tests/MartletImagesTests/Fixtures").path

    /// Without those that claim more pixels than any memory has.
    static let all = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        .filter { !$0.hasPrefix("bomb.") }.sorted()

    static let animated = ["animated.gif", "animated.png", "animated.webp"]

    static func path(_ name: String) -> String { "\(folder)/\(name)" }

    static func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }
}
