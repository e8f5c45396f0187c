internal import Foundation
internal import MartletTesting

/// A private folder for one test, deleted when the test ends.
struct TemporaryFolder: Sendable {
    let path: String

    @discardableResult
    func file(_ name: String, _ content: Data = Data()) throws -> String {
        let path = path + "/" + name
        try content.write(to: URL(fileURLWithPath: path))
        return path
    }

    func extend(_ path: String, by bytes: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: bytes)
    }

    func cut(_ path: String, to size: UInt64) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.truncate(atOffset: size)
    }

    static func with<Result>(_ body: (TemporaryFolder) async throws -> Result) async throws -> Result {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(TemporaryFolder(path: url.path))
    }
}

extension TemporaryFolder {
    /// The names of all files in the folder, including hidden ones.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? ["the folder cannot be read"]
    }
}

extension SeededGenerator {
    mutating func bytes(_ count: Int) -> Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) }
        }
        return Data(bytes.prefix(count))
    }
}

/// A sequence of chunks in memory that can be iterated repeatedly.
struct Chunks: AsyncSequence, Sendable {
    let chunks: [Data]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>
        mutating func next() async -> Data? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: chunks[...]) }
}
