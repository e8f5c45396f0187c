#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps the session in a secure storage, as one value under one key.
final class SecureTokenStore: LockedTokenStore, FileWatching {
    let storage: any SecureStorage
    private let key: String
    /// The lock files; `nil` if no other process can reach the value.
    private let files: CoordinationFiles?
    let keepsMarkInPlace: Bool

    let queue = BlockingQueue("martlet.secure-token-store")
    let updateLease = CoordinationFiles.updateLease
    var updateLock: ProcessLock? { files?.updateLock }
    var refreshLock: (any StoreLock)? { files?.refreshLock }
    var markFile: PrivateFile? { files?.markFile }

    /// - Parameter keepsMarkInPlace: Whether an ``EndMark`` replaces the record of a session that ends, if there is no
    ///   folder for the mark. Otherwise the record is deleted. The Keychain always deletes it, so that nothing stays
    ///   there, and so does a storage that prompts the user, who would be prompted only to learn that no session is
    ///   stored.
    init(storage: any SecureStorage, key: String, folder: String?, keepsMarkInPlace: Bool = true) {
        let base = (storage as? AnySecureStorage)?.base ?? storage
        self.storage = (base as? any SystemStorage)?.forSessions() ?? base
        self.key = key
        self.files = folder.map { CoordinationFiles(folder: $0, key: key, time: .system) }
        self.keepsMarkInPlace =
            keepsMarkInPlace && folder == nil && !storage.readingPromptsUser && !(base is KeychainStorage)
    }

    func confirmUser() async throws(StorageError) {
        try await (storage as? any SystemStorage)?.confirmUser(toRead: key)
    }

    func readBytes() async throws(StorageError) -> Data? {
        await files?.watchBegun()
        return try await storage.read(key)
    }

    func replace(with bytes: Data, while isHeld: @escaping @Sendable () -> Bool) async throws(StorageError) -> Bool {
        guard await queue.run(isHeld) else { return false }
        if storage.readingPromptsUser, let storage = storage as? any SystemStorage,
            let id = (try? StoredSession(encoded: bytes))?.id
        {
            try await storage.save(bytes, ofSession: id.rawValue, for: key)
        } else {
            try await storage.save(bytes, for: key)
        }
        await files?.reportChange()
        return true
    }

    func remove(while isHeld: @escaping @Sendable () -> Bool) async throws(StorageError) -> Bool {
        guard await queue.run(isHeld) else { return false }
        try await storage.delete(key)
        await files?.reportChange()
        return true
    }

    func reportMark() async {
        await files?.reportChange()
    }

    var readingPromptsUser: Bool { storage.readingPromptsUser }

    var watchedFile: FileChanges? { files?.changeMarker }

    func changes() -> AsyncStream<Void>? {
        guard !storage.readingPromptsUser else { return nil }
        let sources = [storage.changes(), files?.changes()].compactMap(\.self)
        guard sources.count > 1 else { return sources.first }
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let reports = sources.map { source in
            Task { for await _ in source { continuation.yield() } }
        }
        continuation.onTermination = { _ in for report in reports { report.cancel() } }
        return stream
    }
}

extension TokenStore where Self == AnyTokenStore {
    /// Keeps the session in a secure storage, as one value under one key. This is the simplest way to use a vault of
    /// your own; ``TokenStore`` says when to implement a store instead.
    ///
    /// ```swift
    /// let store: some TokenStore = .secure(MyVault(), key: "session", folder: "/var/lib/example")
    /// ```
    ///
    /// Several processes may share the value, for example an app and its extensions. Lock files (``ProcessLock``) let
    /// only one of them at a time refresh the tokens, and notify the others of changes. These files contain no secrets.
    /// - Parameters:
    ///   - storage: The storage of the session.
    ///   - key: The key of the session in the storage.
    ///   - folder: The folder of the lock files, the same in all processes that share the session; it is created when
    ///     needed. `nil` if only one process uses the value. Without a folder, a sign-out replaces the value with a
    ///     mark that contains neither a token nor a user. The Keychain keeps no mark: if the app adopts former tokens
    ///     (`MartletAdoption`) for the first time after a sign-out, they sign their user in again.
    public static func secure(_ storage: some SecureStorage, key: String, folder: String?) -> AnyTokenStore {
        AnyTokenStore(SecureTokenStore(storage: storage, key: key, folder: folder))
    }
}
