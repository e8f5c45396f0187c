/// A token store that Martlet provides: in memory, in a file, in the Keychain, in a Linux keyring, or in any
/// ``SecureStorage``.
///
/// Create one with a factory of ``TokenStore``, wherever a store is expected:
///
/// ```swift
/// let tokens = TokenManager(
///     baseURL: "https://api.example.com", store: .platformDefault(service: "com.example.app"),
///     refresher: .json(path: "/auth/refresh"))
/// ```
public final class AnyTokenStore: TokenStore {
    let base: any TokenStore

    init(_ base: any TokenStore) {
        self.base = base
    }

    /// Reads the session.
    public func read() async -> StoreReading { await base.read() }

    /// Replaces the session.
    /// - Throws: ``StorageError``, or `CancellationError` if the task is cancelled while it waits for another process.
    public func write(_ session: StoredSession) async throws { try await base.write(session) }

    /// Deletes the session. Does nothing if there is none.
    /// - Throws: ``StorageError``, or `CancellationError` if the task is cancelled while it waits for another process.
    public func delete() async throws { try await base.delete() }

    /// Reads the session and changes it as `decide` says, while no other process can change it.
    /// - Parameter decide: Receives the current record and returns what to do with it. It runs again if this process
    ///   was suspended and lost its lock before the change.
    /// - Returns: The record before the change.
    /// - Throws: ``StorageError``, or `CancellationError` if the task is cancelled while it waits for another process.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await base.update(decide)
    }

    /// Lets one process at a time refresh the tokens. `nil` if no other process can reach the session.
    public var refreshLock: (any StoreLock)? { base.refreshLock }

    /// A stream that yields each time the session may have changed or become readable; `nil` if the store cannot tell.
    public func changes() -> AsyncStream<Void>? { base.changes() }

    /// Whether reading the session may prompt the user.
    public var readingPromptsUser: Bool { base.readingPromptsUser }

    /// The place of the session, and the reason for it; `nil` if the store had no choice.
    ///
    /// On Linux, stores made with `.platformDefault(service:)` have a choice; on macOS, those made with `.keychain(…)`.
    /// - Throws: ``StorageError`` if an earlier choice was recorded and cannot be read.
    public func choice() async throws(StorageError) -> StorageChoice? {
        try await systemStorage?.choice()
    }

    /// Forgets that the user was authenticated, so that the next access prompts again. Does nothing in stores without a
    /// ``KeychainAuthentication``. A ``TokenManager`` that has read its session still keeps it in memory.
    public func forgetAuthentication() {
        systemStorage?.forgetAuthentication()
    }

    /// The file that changes with the session, if the store has one.
    package var watchedFile: FileChanges? { (plain as? any FileWatching)?.watchedFile }

    private var systemStorage: (any SystemStorage)? { storage as? any SystemStorage }
}

extension AnyTokenStore: FileWatching {}
