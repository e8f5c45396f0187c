#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps secrets in a folder, each in a file of its own, as plain text or sealed by a ``FileCoding``.
final class FileStorage: SecureStorage {
    private let folder: String
    private let queue = BlockingQueue("martlet.storage-files")
    private let coding: any FileCoding
    /// The extension of the files. Folders have none, so a file is never mistaken for a folder.
    private let ending: String

    /// In bytes.
    private static let largestValue = 1 << 20
    /// In seconds. No write takes this long, so an older temporary file was left by a killed process.
    private static let longestWrite = 60

    init(folder: String, coding: any FileCoding = PlainCoding(), ending: String = ".value") {
        self.folder = folder
        self.coding = coding
        self.ending = ending
        coding.addPlace(folder) {
            // A folder that cannot be listed may have one.
            guard let keys = try? Self.savedKeys(in: folder, ending) else { return true }
            return keys.contains { Self.file(of: $0, in: folder, ending).isSealed }
        }
    }

    func read(_ key: String) async throws(StorageError) -> Data? {
        let file = file(of: key)
        guard let bytes = try await queue.run({ () throws(StorageError) in try file.read() }) else { return nil }
        return try await coding.open(bytes, as: Self.contentName(of: key), at: file.path)
    }

    func save(_ value: Data, for key: String) async throws(StorageError) {
        guard value.count <= Self.largestValue else {
            throw StorageError(
                .unreachable,
                "the value of \(key) has \(value.count) bytes; a storage takes at most \(Self.largestValue)")
        }
        if coding.lacksSealingKey, let example = try? await keys().first { _ = try? await read(example) }
        let bytes = try await coding.seal(value, as: Self.contentName(of: key))
        try await queue.run { [self] () throws(StorageError) in
            let file = file(of: key)
            try file.makeFolder()
            removeLeftovers()
            _ = try file.replace(with: bytes, if: { true })
        }
    }

    func delete(_ key: String) async throws(StorageError) {
        try await queue.run { [self] () throws(StorageError) in
            removeLeftovers()
            let file = file(of: key)
            // Remove recent temporary files, too: one may contain the value that is being deleted.
            file.removeLeftovers(olderThan: 0)
            if try file.delete(if: { true }) { coding.didDelete(file.path) }
        }
    }

    func keys() async throws(StorageError) -> [String] {
        try await queue.run { [self] () throws(StorageError) in try Self.savedKeys(in: folder, ending).sorted() }
    }

    private static func savedKeys(in folder: String, _ ending: String) throws(StorageError) -> [String] {
        var keys: [String] = []
        try EscapedName.forEachFolder(below: folder) { path, names in
            for name in names where name.hasSuffix(ending) && !name.hasPrefix(".") {
                let name = name.dropLast(ending.count)
                if let key = EscapedName.text(at: path.isEmpty ? String(name) : "\(path)/\(name)") { keys.append(key) }
            }
        }
        return keys
    }

    /// Removes the leftovers of all keys, because some of the keys may never be saved again.
    private func removeLeftovers() {
        try? EscapedName.forEachFolder(below: folder) { path, names in
            PrivateFile.removeLeftovers(
                names, in: path.isEmpty ? folder : "\(folder)/\(path)", olderThan: Self.longestWrite)
        }
    }

    private func file(of key: String) -> PrivateFile { Self.file(of: key, in: folder, ending) }

    private static func file(of key: String, in folder: String, _ ending: String) -> PrivateFile {
        PrivateFile(path: "\(folder)/\(EscapedName.path(of: key))\(ending)")
    }

    /// The name under which a value is sealed, so that neither a session nor another value can pass for it.
    private static func contentName(of key: String) -> String { "value:" + key }
}

extension SecureStorage where Self == AnySecureStorage {
    /// Keeps secrets in plain text files of the user: in the folder `values` beside the file of
    /// ``TokenStore/file(service:)``. See ``files(in:)``.
    /// - Parameter service: The app's name in reverse-domain form. A slash in it is replaced by a dash.
    public static func files(service: String) -> AnySecureStorage {
        .files(in: Disk.stateFolder(of: service) + "/values")
    }

    /// Keeps secrets in plain text files that only their user can read: for tools, services and containers.
    ///
    /// Each value is a file, written and protected like that of ``TokenStore/file(path:)``. The name of the file is the
    /// key, in which `%` and two hexadecimal digits replace each byte other than lower-case letters, digits, `-` and
    /// `_`.
    ///
    /// Several processes may use the folder. If two save the same key, the last one wins.
    /// - Parameter folder: A folder on a local disk, created when needed.
    public static func files(in folder: String) -> AnySecureStorage {
        AnySecureStorage(FileStorage(folder: folder))
    }
}
