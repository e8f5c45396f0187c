#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps the sessions of several accounts in a secure storage, each under a key of its own.
///
/// ```swift
/// let vault = SecureAccountStore(storage: .keychain(service: "com.example.app"), folder: folder)
/// let accounts = Accounts(store: vault) { account, store in
///     TokenManager(baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"))
/// }
/// ```
public struct SecureAccountStore<Storage: SecureStorage>: AccountStore {
    /// Where the sessions are.
    public let storage: Storage
    /// Where processes that share them leave each other notes; `nil` where no other process can reach them.
    public let folder: String?

    /// What the keys of sessions begin with; other keys are the app's own.
    private static var prefix: String { "account " }
    private static var currentKey: String { "current account" }

    /// A store in a secure storage.
    /// - Parameters:
    ///   - storage: Where the sessions are. An app may keep other secrets there; keys that begin with `account ` and the
    ///     key `current account` belong to this store.
    ///   - folder: Where processes that share the sessions leave each other notes, the same for all of them; `nil` where
    ///     no other process can reach them.
    public init(storage: Storage, folder: String?) {
        self.storage = storage
        self.folder = folder
    }

    /// Where the session of an account is kept.
    public func store(for account: AccountID) -> any TokenStore {
        SecureTokenStore(storage: storage, key: Self.prefix + account.rawValue, folder: folder)
    }

    /// The accounts that have a record, by name.
    /// - Throws: ``StorageFailure`` where that cannot be told now.
    public func accounts() async throws -> [AccountID] {
        let keys = try await storage.keys().filter { $0.hasPrefix(Self.prefix) }
        return keys.map { AccountID(rawValue: String($0.dropFirst(Self.prefix.count))) }
            .sorted { $0.rawValue < $1.rawValue }
    }

    /// The account that was made the current one last.
    /// - Throws: ``StorageFailure`` where that cannot be told now.
    public func current() async throws -> AccountID? {
        try await storage.read(Self.currentKey).map { AccountID(rawValue: String(decoding: $0, as: UTF8.self)) }
    }

    /// Notes which account is the current one; returns once that would survive a crash.
    /// - Throws: ``StorageFailure``.
    public func setCurrent(_ account: AccountID?) async throws {
        if let account {
            try await storage.save(Data(account.rawValue.utf8), for: Self.currentKey)
        } else {
            try await storage.delete(Self.currentKey)
        }
    }
}
