internal import Foundation
internal import MartletTesting

/// A folder of a test's own, gone when the test is.
struct TemporaryFolder: Sendable {
    let path: String

    /// Writes a file and returns its path.
    @discardableResult
    func file(_ name: String, _ content: Data = Data()) throws -> String {
        let path = path + "/" + name
        try content.write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Adds bytes to the end of a file.
    func extend(_ path: String, by bytes: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: bytes)
    }

    /// Cuts a file after some bytes.
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

/// Random bytes that are the same in every run.
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

/// Chunks that are there already, as a sequence that can be passed over again and again.
struct Chunks: AsyncSequence, Sendable {
    let chunks: [Data]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>
        mutating func next() async -> Data? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: chunks[...]) }
}
