/// Stores the sessions of several accounts separately, and which account is the current one.
///
/// ``AccountStore`` is the public type over it.
protocol AccountStorage: Sendable {
    /// The store of one account's session. The same account always gets the same record; no two accounts share one.
    func store(for account: AccountID) -> any TokenStore
    /// The accounts that have a record, sorted by name.
    /// - Throws: ``StorageError`` or another error if they cannot be read now.
    func accounts() async throws -> [AccountID]
    /// The current account; `nil` if there is none.
    /// - Throws: ``StorageError`` or another error if it cannot be read now.
    func current() async throws -> AccountID?
    /// Makes an account the current one, and returns when that would survive a crash.
    /// - Throws: ``StorageError`` or another error if it cannot be written. The previous account stays the current one.
    func setCurrent(_ account: AccountID?) async throws
}

/// Stores the sessions of several accounts separately, and which account is the current one: in memory, in files, or in
/// any ``SecureStorage``.
///
/// Create one with a factory, wherever one is expected:
///
/// ```swift
/// let accounts = Accounts(store: .files(service: "com.example.app")) { account, store in
///     TokenManager(baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"))
/// }
/// ```
public final class AccountStore: Sendable {
    private let base: any AccountStorage

    init(_ base: any AccountStorage) {
        self.base = base
    }

    /// The store of one account's session.
    func store(for account: AccountID) -> any TokenStore { base.store(for: account) }

    /// The accounts that have a record, sorted by name.
    /// - Throws: ``StorageError`` if they cannot be read now.
    func accounts() async throws -> [AccountID] { try await base.accounts() }

    /// The current account; `nil` if there is none.
    /// - Throws: ``StorageError`` if it cannot be read now.
    func current() async throws -> AccountID? { try await base.current() }

    /// Makes an account the current one, and returns when that would survive a crash.
    /// - Throws: ``StorageError``. The previous account stays the current one.
    func setCurrent(_ account: AccountID?) async throws { try await base.setCurrent(account) }
}
