#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Stores an app's small secrets under keys: an API key, a device identifier, a user's PIN.
///
/// Static members of this protocol create Martlet's own storages, such as
/// ``SecureStorage/platformDefault(service:)``:
///
/// ```swift
/// let secrets: some SecureStorage = .platformDefault(service: "com.example.app")
/// try await secrets.save(Data("4711".utf8), for: "pin")
/// let pin = try await secrets.read("pin")
/// ```
///
/// Implement it for a vault of your own. ``TokenStore/secure(_:key:folder:)`` keeps a session in any storage, and
/// ``AccountStore/secure(_:folder:)`` keeps the sessions of several accounts in one.
///
/// Reading has three outcomes: a value, definitely no value, or a ``StorageError``. An error says that the value cannot
/// be read now; if there is one, it is unchanged.
public protocol SecureStorage: Sendable {
    /// Reads a value.
    /// - Parameter key: Any text.
    /// - Returns: `nil` only if there is definitely no value under this key.
    /// - Throws: ``StorageError`` if the value cannot be read now, or is damaged.
    func read(_ key: String) async throws(StorageError) -> Data?
    /// Adds or replaces a value, and returns when it would survive a crash.
    /// - Parameters:
    ///   - value: A few kilobytes; at most one megabyte.
    ///   - key: Any text.
    /// - Throws: ``StorageError``. The previous value is unchanged.
    func save(_ value: Data, for key: String) async throws(StorageError)
    /// Deletes a value. Does nothing if there is none.
    /// - Throws: ``StorageError``. The value is unchanged.
    func delete(_ key: String) async throws(StorageError)
    /// The keys that have a value, sorted.
    /// - Throws: ``StorageError`` if the keys cannot be read now.
    func keys() async throws(StorageError) -> [String]
    /// A stream that yields each time a value may have become readable or changed elsewhere. `nil`, the default, if the
    /// storage cannot tell.
    func changes() -> AsyncStream<Void>?
    /// Whether reading a value may prompt the user. If it does, Martlet does not watch the storage for changes, so a
    /// change never causes a prompt. The default is `false`.
    var readingPromptsUser: Bool { get }
}

extension SecureStorage {
    /// `nil`: the storage cannot tell.
    public func changes() -> AsyncStream<Void>? { nil }
    /// Reading does not prompt the user.
    public var readingPromptsUser: Bool { false }
}

/// A storage that the system provides. It may choose between several places for the values, and may authenticate the
/// user.
package protocol SystemStorage: SecureStorage {
    /// The place of the values, and the reason for it.
    func choice() async throws(StorageError) -> StorageChoice?
    /// Forgets that the user was authenticated, so that the next access prompts again.
    func forgetAuthentication()
    /// The variant for sessions, which must be writable without prompting the user.
    func forSessions() -> any SystemStorage
    /// Adds or replaces the record of a session.
    func save(_ value: Data, ofSession id: String, for key: String) async throws(StorageError)
    /// Authenticates the user before a session is read.
    func confirmUser(toRead key: String) async throws(StorageError)
}

extension SystemStorage {
    package func forSessions() -> any SystemStorage { self }
    package func confirmUser(toRead key: String) async throws(StorageError) {}
    package func save(_ value: Data, ofSession id: String, for key: String) async throws(StorageError) {
        try await save(value, for: key)
    }
}

/// The place of an app's secrets, and the reason for it.
public enum StorageChoice: Sendable, Hashable {
    /// Apple's Keychain. On macOS, the data protection Keychain.
    case keychain
    /// The login keychain of macOS, because the app asked for it, or because this process is not signed for the data
    /// protection Keychain.
    case loginKeychain
    /// The desktop's keyring, through the Secret Service.
    case secretService(reason: String)
    /// Plain text files that only their user can read.
    case files(reason: String)
}
