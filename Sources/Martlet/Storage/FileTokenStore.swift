#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps the session in a file that only its user can read: for tools, servers and containers.
///
/// The tokens stand there as plain text. The file has mode 0600 and its folder, where this store makes it, 0700; a file
/// that others could read is not trusted (``StorageFailure/Kind/unsafePermissions``). Writing replaces the file as a
/// whole: the new record is written beside it, flushed to the disk, and put in its place, so that after a crash there is
/// the old record or the new one.
///
/// Several processes may use the same file, an app and its extensions for example. They take turns by way of two small
/// lock files beside it (``ProcessLock``), renew the tokens once for all of them, and see what the others have done. The
/// folder must be on a local disk.
///
/// ```swift
/// let tokens = TokenManager(
///     baseURL: "https://api.example.com", store: .file(path: "/var/lib/example/session.json"),
///     refresher: .json(path: "/auth/refresh"))
/// ```
public final class FileTokenStore: TokenStore {
    /// Where the record is.
    public let path: String
    private let queue = BlockingQueue("martlet.token-file")
    private let file: PrivateFile
    private let coding: any FileCoding
    /// Held by whoever changes the record, for no longer than that takes.
    private let updateLock: ProcessLock
    private let refreshLock: ProcessLock

    /// A change takes milliseconds. Whoever is in the middle of one for this long was stopped there.
    private static let updateLease = Duration.seconds(5)

    /// A store in the file at a path. Folders on the way are made when they are needed.
    public convenience init(path: String) {
        self.init(path: path, time: .system)
    }

    init(
        path: String, time: any TimeSource, activities: ExpiringActivities? = .platform, steps: FileSteps = .untold,
        coding: any FileCoding = PlainCoding()
    ) {
        self.path = path
        self.file = PrivateFile(path: path, steps: steps)
        self.coding = coding
        self.updateLock = ProcessLock(path: path + ".lock", time: time, activities: activities, steps: steps)
        self.refreshLock = ProcessLock(path: path + ".refresh.lock", time: time, activities: activities, steps: steps)
    }

    /// What keeps other processes from renewing the tokens at the same time: a file beside the record.
    public var lock: (any StoreLock)? { refreshLock }

    /// Reads the record.
    public func read() async -> StoreReading {
        await queue.run { [self] in reading() }
    }

    /// Writes the record; returns once it is on the disk.
    /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
    public func write(_ session: StoredSession) async throws {
        try await update { _ in .write(session) }
    }

    /// Deletes the record; does nothing where there is none.
    /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
    public func delete() async throws {
        try await update { _ in .delete }
    }

    /// Reads the record and changes it, with no other process in between.
    ///
    /// A process that is stopped in the middle is waited for five seconds. When it goes on it sees that, and begins anew.
    /// What no lock of this kind can prevent is that it is stopped between the last look and the change itself.
    /// - Parameter decide: Called with what is there; once more where this process was stopped in between for so long
    ///   that others have gone on without it.
    /// - Returns: What was there before.
    /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        // Nothing that could be deleted is a reason to make a folder and a lock in it.
        if !file.hasFolder {
            guard case .write = decide(.empty) else { return .empty }
        }
        // Reading may teach how to seal, which can take long and is better done before others have to wait.
        if coding.isFresh { _ = await read() }
        return try await updateLock.update(lease: Self.updateLease, reading: read, decide) { held in
            try await queue.run { [self] in try change(while: { held.isHeld }, decide) }
        }
    }

    /// - Returns: `nil` where the lock was lost before anything was changed.
    private func change(
        while isHeld: () -> Bool, _ decide: (StoreReading) -> StoreUpdate
    ) throws -> StoreReading? {
        let reading = reading()
        switch decide(reading) {
        case .keep:
            return reading
        case .write(let session):
            let bytes = try coding.seal(try StoredSessionCodec.encode(session), as: Self.contents)
            // Where the lock is lost, what looks left behind is what its new holder is writing.
            guard isHeld() else { return nil }
            file.removeLeftovers(olderThan: 0)
            return try file.replace(with: bytes, if: isHeld) ? reading : nil
        case .delete:
            guard isHeld() else { return nil }
            file.removeLeftovers(olderThan: 0)
            return try file.delete(if: isHeld) ? reading : nil
        }
    }

    private func reading() -> StoreReading {
        do throws(StorageFailure) {
            guard let bytes = try file.read() else { return .empty }
            return .found(try StoredSessionCodec.decode(try coding.open(bytes, as: Self.contents, at: path)))
        } catch {
            return .unavailable(error)
        }
    }

    private static let contents = "session"
}

extension TokenStore where Self == FileTokenStore {
    /// A file of the user's own: `$XDG_STATE_HOME/<service>/session.json`, or the same below `~/.local/state`; on Apple's
    /// systems below `~/Library/Application Support`.
    /// - Parameter service: The app's name in reverse-domain form. A slash in it counts as a dash.
    public static func file(service: String) -> FileTokenStore {
        FileTokenStore(path: Disk.stateFolder(of: service) + "/session.json")
    }

    /// A file at a path.
    public static func file(path: String) -> FileTokenStore {
        FileTokenStore(path: path)
    }
}
