/// Keeps the sessions of several accounts apart from each other, and which of them is the current one.
public protocol AccountStore: Sendable {
    /// Where the session of an account is kept. The same account always gets the same record, and no two accounts do.
    func store(for account: AccountID) -> any TokenStore
    /// The accounts that have a record, by name.
    /// - Throws: ``StorageFailure``, or anything else, where that cannot be told now.
    func accounts() async throws -> [AccountID]
    /// The account that was made the current one last; `nil` where none is.
    /// - Throws: ``StorageFailure``, or anything else, where that cannot be told now.
    func current() async throws -> AccountID?
    /// Notes which account is the current one; returns once the note would survive a crash.
    /// - Throws: ``StorageFailure``, or anything else, where it cannot be noted.
    func setCurrent(_ account: AccountID?) async throws
}

/// Keeps the sessions of several accounts for the life of the process: for tests and previews.
public final class InMemoryAccountStore: AccountStore {
    private struct State {
        var stores: [AccountID: InMemoryTokenStore] = [:]
        var current: AccountID?
    }

    private let state = Locked(State())

    /// A store without accounts.
    public init() {}

    /// The account's own store in memory.
    public func store(for account: AccountID) -> any TokenStore {
        state.withLock { state in
            if let store = state.stores[account] { return store }
            let store = InMemoryTokenStore()
            state.stores[account] = store
            return store
        }
    }

    /// The accounts that have a record, by name.
    public func accounts() async -> [AccountID] {
        var found: [AccountID] = []
        for (account, store) in state.withLock({ $0.stores }) where await store.read() != .empty {
            found.append(account)
        }
        return found.sorted { $0.rawValue < $1.rawValue }
    }

    /// The account that was made the current one last.
    public func current() async -> AccountID? {
        state.withLock { $0.current }
    }

    /// Notes which account is the current one.
    public func setCurrent(_ account: AccountID?) async {
        state.withLock { $0.current = account }
    }
}

extension AccountStore where Self == InMemoryAccountStore {
    /// A store for the life of the process.
    public static var inMemory: InMemoryAccountStore { InMemoryAccountStore() }
}
