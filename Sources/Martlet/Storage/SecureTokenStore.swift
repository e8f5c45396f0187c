#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps the session in a secure storage, as one value under one key.
///
/// Usually met by one of its shorter names: `KeychainTokenStore` on Apple's systems, `SecretServiceTokenStore` on Linux.
/// Whoever has a vault of another kind makes a ``SecureStorage`` of it and keeps the session there:
///
/// ```swift
/// let store = SecureTokenStore(storage: MyVault(), key: "session", folder: "/var/lib/example")
/// ```
///
/// Several processes may use the same value, an app and its extensions for example. They take turns by way of small lock
/// files (``ProcessLock``), renew the tokens once for all of them, and see what the others have done. The files hold no
/// secrets. All processes must name the same folder for that.
public final class SecureTokenStore<Storage: SecureStorage>: TokenStore {
    /// Where the value is.
    public let storage: Storage
    /// The key it has there.
    public let key: String
    private let turns: StoreTurns?

    /// A store in a secure storage.
    /// - Parameters:
    ///   - storage: Where the session is kept.
    ///   - key: The key it has there.
    ///   - folder: Where processes that share the session leave each other notes; made when it is needed. `nil` where no
    ///     other process can reach the value.
    public convenience init(storage: Storage, key: String, folder: String?) {
        self.init(storage: storage, key: key, turns: folder.map { StoreTurns(folder: $0, key: key, time: .system) })
    }

    init(storage: Storage, key: String, turns: StoreTurns?) {
        self.storage = storage
        self.key = key
        self.turns = turns
    }

    /// What keeps other processes from renewing the tokens at the same time; `nil` without a folder.
    public var lock: (any StoreLock)? { turns?.refreshLock }

    /// Reads the session.
    public func read() async -> StoreReading {
        do throws(StorageFailure) {
            guard let bytes = try await storage.read(key) else { return .empty }
            return .found(try StoredSessionCodec.decode(bytes))
        } catch {
            return .unavailable(error)
        }
    }

    /// Writes the session, in place of what was there.
    /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
    public func write(_ session: StoredSession) async throws {
        try await update { _ in .write(session) }
    }

    /// Deletes the session; does nothing where there is none.
    /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
    public func delete() async throws {
        try await update { _ in .delete }
    }

    /// Reads the session and changes it, with no other process in between that uses the same folder.
    /// - Parameter decide: Called with what is there; once more where this process was stopped in between for so long
    ///   that others have gone on without it.
    /// - Returns: What was there before.
    /// - Throws: ``StorageFailure``, or `CancellationError` where the task was cancelled before its turn came.
    @discardableResult
    public func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        guard let turns else { return try await change(while: { true }, decide) ?? .empty }
        return try await turns.updateLock.update(lease: StoreTurns.lease, reading: read, decide) { held in
            try await change(while: { held.isHeld }, decide)
        }
    }

    /// One value whenever somebody may have changed the session, or it may be readable again; `nil` where reading it asks
    /// a person, who is not to be asked for no reason of their own.
    public func changes() -> AsyncStream<Void>? {
        if let keychain = storage as? KeychainStorage, keychain.settings.authentication != .none { return nil }
        let sources = [storage.changes(), turns?.changes()].compactMap(\.self)
        guard sources.count > 1 else { return sources.first }
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let reports = sources.map { source in
            Task { for await _ in source { continuation.yield() } }
        }
        continuation.onTermination = { _ in for report in reports { report.cancel() } }
        return stream
    }

    /// - Returns: `nil` where it was not this process's turn any more, and nothing has been changed.
    private func change(
        while isAllowed: () -> Bool, _ decide: (StoreReading) -> StoreUpdate
    ) async throws -> StoreReading? {
        let reading = await read()
        switch decide(reading) {
        case .keep:
            return reading
        case .write(let session):
            let bytes = try StoredSessionCodec.encode(session)
            guard isAllowed() else { return nil }
            try await storage.save(bytes, for: key)
        case .delete:
            guard isAllowed() else { return nil }
            try await storage.delete(key)
        }
        await turns?.tell()
        return reading
    }
}
