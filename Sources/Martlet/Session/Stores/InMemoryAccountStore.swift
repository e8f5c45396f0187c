/// Keeps the sessions of several accounts until the process ends.
final class InMemoryAccountStore: AccountStorage {
    private struct State {
        var stores: [AccountID: InMemoryTokenStore] = [:]
        var current: AccountID?
    }

    private let state = Locked(State())

    func store(for account: AccountID) -> any TokenStore {
        state.withLock { state in
            if let store = state.stores[account] { return store }
            let store = InMemoryTokenStore()
            state.stores[account] = store
            return store
        }
    }

    func accounts() async -> [AccountID] {
        var found: [AccountID] = []
        for (account, store) in state.withLock({ $0.stores }) where await store.read() != .empty {
            found.append(account)
        }
        return found.sorted { $0.rawValue < $1.rawValue }
    }

    func current() async -> AccountID? {
        state.withLock { $0.current }
    }

    func setCurrent(_ account: AccountID?) async {
        state.withLock { $0.current = account }
    }
}

extension AccountStore {
    /// Keeps the sessions until the process ends: for tests and previews.
    public static var inMemory: AccountStore { AccountStore(InMemoryAccountStore()) }
}
