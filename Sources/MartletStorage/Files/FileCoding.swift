#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Converts contents to the bytes of a file and back: unchanged, or sealed (encrypted and authenticated) with a key.
package protocol FileCoding: Sendable {
    /// Whether the key for new files is not known yet. If so, open an existing file first, so that its key need not be
    /// derived again.
    var lacksSealingKey: Bool { get }
    /// The bytes of the file.
    /// - Parameter name: The name of the contents. They cannot be opened under another name.
    func seal(_ bytes: Data, as name: String) async throws(StorageError) -> Data
    /// The contents of the file.
    /// - Parameters:
    ///   - name: The name under which the contents were sealed.
    ///   - path: The file, for error texts.
    func open(_ bytes: Data, as name: String, at path: String) async throws(StorageError) -> Data
}

/// Leaves contents unchanged.
package struct PlainCoding: FileCoding {
    package var lacksSealingKey: Bool { false }
    package init() {}
    package func seal(_ bytes: Data, as name: String) -> Data { bytes }
    package func open(_ bytes: Data, as name: String, at path: String) -> Data { bytes }
}
