internal import Dispatch

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
/// ```swift
/// let tokens = TokenManager(
///     baseURL: "https://api.example.com", store: .file(path: "/var/lib/example/session.json"),
///     refresher: .json(path: "/auth/refresh"))
/// ```
public final class FileTokenStore: TokenStore {
    /// Where the record is.
    public let path: String
    private let queue = DispatchQueue(label: "martlet.token-file")

    /// A store in the file at a path. Folders on the way are made when the first record is written.
    public init(path: String) {
        self.path = path
    }

    /// Reads the record.
    public func read() async -> StoreReading {
        await withCheckedContinuation { continuation in
            queue.async { [path] in
                continuation.resume(returning: Self.reading(ofFileAt: path))
            }
        }
    }

    /// Writes the record; returns once it is on the disk.
    /// - Throws: ``StorageFailure``.
    public func write(_ session: StoredSession) async throws {
        let bytes = try StoredSessionCodec.encode(session)
        try await perform { file throws(StorageFailure) in
            try file.makeFolder()
            file.removeLeftovers()
            try file.replace(with: bytes)
        }
    }

    /// Deletes the record; does nothing where there is none.
    /// - Throws: ``StorageFailure``.
    public func delete() async throws {
        try await perform { file throws(StorageFailure) in try file.delete() }
    }

    private static func reading(ofFileAt path: String) -> StoreReading {
        do throws(StorageFailure) {
            guard let bytes = try PrivateFile(path: path).read() else { return .empty }
            return .found(try StoredSessionCodec.decode(bytes))
        } catch {
            return .unavailable(error)
        }
    }

    private func perform(_ work: @escaping @Sendable (PrivateFile) throws(StorageFailure) -> Void) async throws {
        let result = await withCheckedContinuation { continuation in
            queue.async { [path] in
                continuation.resume(
                    returning: Result { () throws(StorageFailure) in try work(PrivateFile(path: path)) })
            }
        }
        try result.get()
    }
}

extension TokenStore where Self == FileTokenStore {
    /// A file of the user's own: `$XDG_STATE_HOME/<service>/session.json`, or the same below `~/.local/state`; on Apple's
    /// systems below `~/Library/Application Support`.
    /// - Parameter service: The app's name in reverse-domain form. A slash in it counts as a dash.
    public static func file(service: String) -> FileTokenStore {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? "."
        let base = Disk.stateFolder(environment: environment, home: home)
        let folder = service.replacing("/", with: "-")
        return FileTokenStore(path: "\(base)/\(folder)/session.json")
    }

    /// A file at a path.
    public static func file(path: String) -> FileTokenStore {
        FileTokenStore(path: path)
    }
}
