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
    /// Adds a place of sealed files. While it has one, no key is created for new files: theirs may be on an unmounted
    /// disk.
    func addPlace(_ path: String, _ hasSealedFile: @escaping @Sendable () -> Bool)
    /// A file was deleted, so that it no longer needs its key.
    func didDelete(_ path: String)
    /// The bytes of the file.
    /// - Parameter name: The name of the contents. They cannot be opened under another name.
    func seal(_ bytes: Data, as name: String) async throws(StorageError) -> Data
    /// The contents of the file.
    /// - Parameters:
    ///   - name: The name under which the contents were sealed.
    ///   - path: The file, for error texts.
    func open(_ bytes: Data, as name: String, at path: String) async throws(StorageError) -> Data
}

extension FileCoding {
    /// Does nothing, for a coding without a key.
    package func addPlace(_ path: String, _ hasSealedFile: @escaping @Sendable () -> Bool) {}

    /// Does nothing, for a coding without a key.
    package func didDelete(_ path: String) {}
}

/// Leaves contents unchanged.
package struct PlainCoding: FileCoding {
    package var lacksSealingKey: Bool { false }
    package init() {}
    package func seal(_ bytes: Data, as name: String) -> Data { bytes }
    package func open(_ bytes: Data, as name: String, at path: String) -> Data { bytes }
}
