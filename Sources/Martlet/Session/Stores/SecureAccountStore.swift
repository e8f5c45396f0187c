#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Keeps the sessions of several accounts in a secure storage, each under its own key.
struct SecureAccountStore: AccountStorage {
    private let storage: any SecureStorage
    /// The folder of the lock files; `nil` if no other process can reach the storage.
    private let folder: String?

    /// The prefix of the sessions' keys. The app may use other keys.
    private static let prefix = "account "
    private static let currentKey = "current account"

    init(storage: any SecureStorage, folder: String?) {
        let base = (storage as? AnySecureStorage)?.base ?? storage
        self.storage = (base as? any SystemStorage)?.forSessions() ?? base
        self.folder = folder
    }

    func store(for account: AccountID) -> any TokenStore {
        // The keys are the list of accounts, so no key may stay for a mark.
        SecureTokenStore(
            storage: storage, key: Self.prefix + account.rawValue, folder: folder, keepsMarkInPlace: false)
    }

    func accounts() async throws -> [AccountID] {
        let keys = try await storage.keys().filter { $0.hasPrefix(Self.prefix) }
        return keys.map { AccountID(rawValue: String($0.dropFirst(Self.prefix.count))) }
            .sorted { $0.rawValue < $1.rawValue }
    }

    func current() async throws -> AccountID? {
        try await storage.read(Self.currentKey).map { AccountID(rawValue: String(decoding: $0, as: UTF8.self)) }
    }

    func setCurrent(_ account: AccountID?) async throws {
        if let account {
            try await storage.save(Data(account.rawValue.utf8), for: Self.currentKey)
        } else {
            try await storage.delete(Self.currentKey)
        }
    }
}

extension AccountStore {
    /// Keeps the sessions in a secure storage, each under its own key.
    ///
    /// ```swift
    /// let store: AccountStore = .secure(.keychain(service: "com.example.app"), folder: folder)
    /// let accounts = Accounts(store: store) { account, store in
    ///     TokenManager(baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"))
    /// }
    /// ```
    /// - Parameters:
    ///   - storage: The storage of the sessions. The app may keep other secrets in it, under keys that do not begin
    ///     with `account ` and are not `current account`.
    ///   - folder: The folder of the lock files, the same in all processes that share the sessions. `nil` if only one
    ///     process uses them.
    public static func secure(_ storage: some SecureStorage, folder: String?) -> AccountStore {
        AccountStore(SecureAccountStore(storage: storage, folder: folder))
    }
}
