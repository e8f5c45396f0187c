#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps the session in a file that only its user can read, as plain text or sealed by a ``FileCoding``.
final class FileTokenStore: LockedTokenStore, FileWatching {
    let path: String
    let queue = BlockingQueue("martlet.token-file")
    private let file: PrivateFile
    private let fileChanges: FileChanges
    private let coding: any FileCoding
    private let fileLock: ProcessLock

    let markFile: PrivateFile?
    var updateLock: ProcessLock? { fileLock }
    /// A change takes milliseconds. A process that holds the lock for longer is suspended.
    let updateLease = Duration.seconds(5)
    let refreshLock: (any StoreLock)?

    /// The name under which the record is sealed, so that a sealed value of a ``FileStorage`` cannot pass for it.
    private static let contentName = "session"

    init(
        path: String, time: any TimeSource = .system, activities: ExpiringActivities? = .platform,
        steps: FileSteps = .unobserved, coding: any FileCoding = PlainCoding(),
        watcher: @escaping FileChanges.Watcher = FileChanges.watchFolder
    ) {
        self.path = path
        self.file = PrivateFile(path: path, steps: steps)
        let markFile = PrivateFile(path: path + ".ended", steps: steps, protectionClass: .none)
        self.fileChanges = FileChanges(of: file, and: markFile, on: queue, watcher: watcher)
        self.coding = coding
        coding.addPlace(path) { [file] in file.isSealed }
        self.markFile = markFile
        self.fileLock = ProcessLock(path: path + ".lock", time: time, activities: activities, steps: steps)
        self.refreshLock = ProcessLock(path: path + ".refresh.lock", time: time, activities: activities, steps: steps)
    }

    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        // Without a folder there is no record. Do not create a folder and a lock file only to find that out.
        let isDone = await queue.run { [file] in
            if file.hasFolder { return false }
            switch decide(.empty) {
            case .write, .end, .mark: return false
            case .keep, .delete: return true
            }
        }
        if isDone { return .empty }
        // Reading may derive the key for sealing, which is slow. Do it before the lock makes other processes wait.
        if coding.lacksSealingKey { _ = await read() }
        return try await lockedUpdate(decide)
    }

    func readBytes() async throws(StorageError) -> Data? {
        let bytes: Data?
        do {
            bytes = try await queue.run { [file, fileChanges] () throws(StorageError) in
                fileChanges.watch()
                return try file.read()
            }
        } catch {
            if error.kind == .unsafePermissions { try await checkOrigin() }
            throw error
        }
        guard let bytes else { return nil }
        return try await coding.open(bytes, as: Self.contentName, at: file.path)
    }

    /// Checks whether a file with unsafe permissions is Martlet's. A sign-in replaces Martlet's record, but never
    /// another program's file.
    /// - Throws: ``StorageError`` of the kind ``StorageError/Kind/foreign``.
    private func checkOrigin() async throws(StorageError) {
        do throws(StorageError) {
            guard let bytes = try await queue.run({ [file] () throws(StorageError) in try file.read(.none) }) else {
                return
            }
            _ = try StoredSession(encoded: try await coding.open(bytes, as: Self.contentName, at: file.path))
        } catch {
            if error.kind == .foreign { throw error }
        }
    }

    func replace(with bytes: Data, while isHeld: @escaping @Sendable () -> Bool) async throws(StorageError) -> Bool {
        let sealed = try await coding.seal(bytes, as: Self.contentName)
        return try await queue.run { [file, markFile] () throws(StorageError) in
            // Check first: after a lost lock, the temporary file beside the record belongs to the new holder.
            guard isHeld() else { return false }
            file.removeLeftovers(olderThan: 0, alsoOf: markFile)
            return try file.replace(with: sealed, if: isHeld)
        }
    }

    func remove(while isHeld: @escaping @Sendable () -> Bool) async throws(StorageError) -> Bool {
        try await queue.run { [file, markFile, coding] () throws(StorageError) in
            guard isHeld() else { return false }
            file.removeLeftovers(olderThan: 0, alsoOf: markFile)
            let isDeleted = try file.delete(if: isHeld)
            if isDeleted { coding.didDelete(file.path) }
            return isDeleted
        }
    }

    /// Does nothing: other processes watch the mark, too.
    func reportMark() async {}

    func changes() -> AsyncStream<Void>? {
        fileChanges.stream()
    }

    var watchedFile: FileChanges? { fileChanges }
}

extension TokenStore where Self == AnyTokenStore {
    /// Keeps the session in a plain text file of the user: `$XDG_STATE_HOME/<service>/session.json`, by default in
    /// `~/.local/state`; on Apple platforms in `~/Library/Application Support`. See ``file(path:)``.
    /// - Parameter service: The app's name in reverse-domain form. A slash in it is replaced by a dash.
    public static func file(service: String) -> AnyTokenStore {
        .file(path: Disk.stateFolder(of: service) + "/session.json")
    }

    /// Keeps the session in a plain text file that only its user can read: for tools, services and containers.
    ///
    /// The file has the mode 0600, and folders that the store creates have 0700. A file that other users can read is
    /// not trusted (``StorageError/Kind/unsafePermissions``). A write creates a new file, flushes it to the disk and
    /// renames it over the old one, so after a crash there is either the old record or the new one.
    ///
    /// Several processes may use the file, for example an app and its extensions. Two lock files beside it
    /// (``ProcessLock``) let one of them at a time refresh the tokens, and each process notices the changes of the
    /// others.
    ///
    /// ```swift
    /// let tokens = TokenManager(
    ///     baseURL: "https://api.example.com", store: .file(path: "/var/lib/example/session.json"),
    ///     refresher: .json(path: "/auth/refresh"))
    /// ```
    /// - Parameter path: A path on a local disk. Missing folders are created when needed.
    public static func file(path: String) -> AnyTokenStore {
        AnyTokenStore(FileTokenStore(path: path))
    }
}
