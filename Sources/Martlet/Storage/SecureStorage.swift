#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Keeps an app's small secrets, each under a key: an API key, a device's identity, a user's PIN.
///
/// Sessions have a ``TokenStore`` of their own, which knows more about them. Both work on the same back ends, and what
/// is true of the one is true of the other: reading gives a value, a *trusted* nothing, or a ``StorageFailure``, which
/// says that nobody knows just now and that the value, if there is one, is still there.
///
/// ```swift
/// let secrets: some SecureStorage = .inMemory
/// try await secrets.save(Data("4711".utf8), for: "pin")
/// let pin = try await secrets.read("pin")
/// ```
public protocol SecureStorage: Sendable {
    /// Reads a value.
    /// - Parameter key: Any text; none is special.
    /// - Returns: `nil` where there is none under this key, and that can be relied on.
    /// - Throws: ``StorageFailure`` where that cannot be told now, or where what is there is damaged.
    func read(_ key: String) async throws(StorageFailure) -> Data?
    /// Saves a value, in place of what was there; returns once it would survive a crash.
    /// - Parameters:
    ///   - value: A few kilobytes; a megabyte at most.
    ///   - key: Any text; none is special.
    /// - Throws: ``StorageFailure``; what was there before is still there.
    func save(_ value: Data, for key: String) async throws(StorageFailure)
    /// Deletes a value; does nothing where there is none.
    /// - Throws: ``StorageFailure``; the value is still there.
    func delete(_ key: String) async throws(StorageFailure)
    /// The keys that have a value, sorted.
    /// - Throws: ``StorageFailure`` where that cannot be told now.
    func keys() async throws(StorageFailure) -> [String]
    /// One value whenever what could not be read may be readable again, or somebody else has changed something; `nil`
    /// where neither is ever known.
    func changes() -> AsyncStream<Void>?
}

extension SecureStorage {
    /// None: nothing is ever known.
    public func changes() -> AsyncStream<Void>? { nil }
}

/// Keeps secrets for the life of the process: for tests and previews.
public final class InMemoryStorage: SecureStorage {
    private let values = Locked<[String: Data]>([:])

    /// An empty storage.
    public init() {}

    /// Reads a value.
    public func read(_ key: String) async -> Data? {
        values.withLock { $0[key] }
    }

    /// Saves a value, in place of what was there.
    public func save(_ value: Data, for key: String) async {
        values.withLock { $0[key] = value }
    }

    /// Deletes a value; does nothing where there is none.
    public func delete(_ key: String) async {
        values.withLock { $0[key] = nil }
    }

    /// The keys that have a value, sorted.
    public func keys() async -> [String] {
        values.withLock { $0.keys.sorted() }
    }
}

extension SecureStorage where Self == InMemoryStorage {
    /// A storage for the life of the process.
    public static var inMemory: InMemoryStorage { InMemoryStorage() }
}
