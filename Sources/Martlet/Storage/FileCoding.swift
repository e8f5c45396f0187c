#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What becomes of bytes on their way into a file, and back. Every call may block.
protocol FileCoding: Sendable {
    /// Whether something may be learned from a file that is there already which makes sealing cheaper.
    var isFresh: Bool { get }
    /// The bytes as the file is to have them.
    /// - Parameter name: What they are; nobody else's bytes can be opened under this name.
    func seal(_ bytes: Data, as name: String) throws(StorageFailure) -> Data
    /// The bytes as they were.
    /// - Parameters:
    ///   - name: What they were sealed as.
    ///   - path: Where they were found, for the words of a failure.
    func open(_ bytes: Data, as name: String, at path: String) throws(StorageFailure) -> Data
}

/// Files have the bytes as they are.
struct PlainCoding: FileCoding {
    var isFresh: Bool { false }
    func seal(_ bytes: Data, as name: String) -> Data { bytes }
    func open(_ bytes: Data, as name: String, at path: String) -> Data { bytes }
}
