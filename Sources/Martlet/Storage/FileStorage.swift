#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Keeps secrets in a folder that only its user can read, each in a file of its own: for tools, servers and containers.
///
/// The values stand there as plain text. What is true of a ``FileTokenStore`` is true of these files: mode 0600,
/// replaced as a whole, on the disk once saving returns, and not trusted where others could read them. The names of the
/// files are the keys, with all but lower-case letters, digits, `-` and `_` written as `%` and two digits each.
///
/// Several processes may use the same folder, which must be on a local disk. The one that saves last has the last word.
///
/// ```swift
/// let secrets: some SecureStorage = .files(service: "com.example.tool")
/// try await secrets.save(Data("4711".utf8), for: "pin")
/// ```
public final class FileStorage: SecureStorage {
    /// Where everything is.
    public let folder: String
    private let queue = BlockingQueue("martlet.storage-files")
    private let coding: any FileCoding
    /// How the names of files end. Those of folders have no dot, so that neither is taken for the other.
    private let ending: String

    /// In bytes.
    private static let largestValue = 1 << 20
    /// In seconds. No saving takes as long, so what is older was left behind.
    private static let oldestWrite = 60

    /// A storage in a folder, which is made when it is needed.
    public convenience init(folder: String) {
        self.init(folder: folder, coding: PlainCoding(), ending: ".value")
    }

    init(folder: String, coding: any FileCoding, ending: String) {
        self.folder = folder
        self.coding = coding
        self.ending = ending
    }

    /// Reads a value.
    /// - Parameter key: Any text; none is special.
    /// - Returns: `nil` where there is none under this key, and that can be relied on.
    /// - Throws: ``StorageFailure`` where that cannot be told now, or where what is there is damaged.
    public func read(_ key: String) async throws(StorageFailure) -> Data? {
        try await queue.run { [self] () throws(StorageFailure) in try value(of: key) }
    }

    /// Saves a value, in place of what was there; returns once it is on the disk.
    /// - Parameters:
    ///   - value: A megabyte at most.
    ///   - key: Any text; none is special.
    /// - Throws: ``StorageFailure``; what was there before is still there.
    public func save(_ value: Data, for key: String) async throws(StorageFailure) {
        guard value.count <= Self.largestValue else {
            throw StorageFailure(.unreachable, "a value has \(value.count) bytes; \(Self.largestValue) is the most")
        }
        try await queue.run { [self] () throws(StorageFailure) in
            if coding.isFresh, let example = try? savedKeys().first { _ = try? self.value(of: example) }
            let file = file(of: key)
            let bytes = try coding.seal(value, as: Self.name(of: key))
            try file.makeFolder()
            removeLeftovers()
            _ = try file.replace(with: bytes, if: { true })
        }
    }

    /// Deletes a value; does nothing where there is none.
    /// - Throws: ``StorageFailure``; the value is still there.
    public func delete(_ key: String) async throws(StorageFailure) {
        try await queue.run { [self] () throws(StorageFailure) in
            removeLeftovers()
            let file = file(of: key)
            // It may be a moment old only, and holds what is to go.
            file.removeLeftovers(olderThan: 0)
            _ = try file.delete(if: { true })
        }
    }

    /// The keys that have a value, sorted.
    /// - Throws: ``StorageFailure`` where that cannot be told now.
    public func keys() async throws(StorageFailure) -> [String] {
        try await queue.run { [self] () throws(StorageFailure) in try savedKeys().sorted() }
    }

    private func value(of key: String) throws(StorageFailure) -> Data? {
        let file = file(of: key)
        guard let bytes = try file.read() else { return nil }
        return try coding.open(bytes, as: Self.name(of: key), at: file.path)
    }

    private func savedKeys() throws(StorageFailure) -> [String] {
        var keys: [String] = []
        try EscapedName.forEachFolder(below: folder) { path, names in
            for name in names where name.hasSuffix(ending) && !name.hasPrefix(".") {
                let name = name.dropLast(ending.count)
                if let key = EscapedName.text(at: path.isEmpty ? String(name) : "\(path)/\(name)") { keys.append(key) }
            }
        }
        return keys
    }

    /// Whatever key they were of: it may never be saved again.
    private func removeLeftovers() {
        try? EscapedName.forEachFolder(below: folder) { path, names in
            PrivateFile.removeLeftovers(
                names, in: path.isEmpty ? folder : "\(folder)/\(path)", olderThan: Self.oldestWrite)
        }
    }

    private func file(of key: String) -> PrivateFile {
        PrivateFile(path: "\(folder)/\(EscapedName.path(of: key))\(ending)")
    }

    /// No session can be opened as a value, nor one value as another.
    private static func name(of key: String) -> String { "value:" + key }
}

extension SecureStorage where Self == FileStorage {
    /// A folder of the user's own, as ``TokenStore/file(service:)`` has: `values` below it.
    /// - Parameter service: The app's name in reverse-domain form. A slash in it counts as a dash.
    public static func files(service: String) -> FileStorage {
        FileStorage(folder: Disk.stateFolder(of: service) + "/values")
    }

    /// A folder at a path.
    public static func files(in folder: String) -> FileStorage {
        FileStorage(folder: folder)
    }
}
