#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A secure storage that Martlet provides: in memory, in files, in the Keychain or in a Linux keyring.
///
/// Create one with a factory of ``SecureStorage``:
///
/// ```swift
/// let secrets: some SecureStorage = .platformDefault(service: "com.example.app")
/// ```
public final class AnySecureStorage: SecureStorage {
    package let base: any SecureStorage

    package init(_ base: any SecureStorage) {
        self.base = base
    }

    /// Reads a value.
    /// - Parameter key: Any text.
    /// - Returns: `nil` only if there is definitely no value under this key.
    /// - Throws: ``StorageError`` if the value cannot be read now, or is damaged.
    public func read(_ key: String) async throws(StorageError) -> Data? { try await base.read(key) }

    /// Adds or replaces a value, and returns when it would survive a crash.
    /// - Parameters:
    ///   - value: A few kilobytes; at most one megabyte.
    ///   - key: Any text.
    /// - Throws: ``StorageError``. The previous value is unchanged.
    public func save(_ value: Data, for key: String) async throws(StorageError) {
        try await base.save(value, for: key)
    }

    /// Deletes a value. Does nothing if there is none.
    /// - Throws: ``StorageError``. The value is unchanged.
    public func delete(_ key: String) async throws(StorageError) { try await base.delete(key) }

    /// The keys that have a value, sorted.
    /// - Throws: ``StorageError`` if the keys cannot be read now.
    public func keys() async throws(StorageError) -> [String] { try await base.keys() }

    /// A stream that yields each time a value may have become readable or changed elsewhere; `nil` if the storage
    /// cannot tell.
    public func changes() -> AsyncStream<Void>? { base.changes() }

    /// Whether reading a value may prompt the user.
    public var readingPromptsUser: Bool { base.readingPromptsUser }

    /// The place of the values, and the reason for it; `nil` if the storage had no choice.
    /// - Throws: ``StorageError`` if an earlier choice was recorded and cannot be read.
    public func choice() async throws(StorageError) -> StorageChoice? {
        try await (base as? any SystemStorage)?.choice()
    }

    /// Forgets that the user was authenticated, so that the next access prompts again. Does nothing in storages without
    /// a ``KeychainAuthentication``.
    public func forgetAuthentication() {
        (base as? any SystemStorage)?.forgetAuthentication()
    }
}
