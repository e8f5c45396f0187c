/// The accounts that an app is signed in to at the same time: one session each, and one of them the current one.
///
/// Each account has a ``TokenManager`` and a store of its own, and the app makes a ``NetworkClient`` for each. So nothing can
/// mix: a call that was begun for one account is signed, renewed and sent again for that account, whichever is the current
/// one by then.
///
/// ```swift
/// let accounts = Accounts(store: .files(service: "com.example.app")) { account, store in
///     TokenManager(baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"))
/// }
/// if let account = try await accounts.restore() {
///     let client = NetworkClient(tokens: accounts.tokens(for: account))
/// }
/// try await accounts.makeCurrent("grace@example.com")
/// for await account in accounts.currents { … }
/// ```
public final class Accounts: Sendable {
    private struct State {
        var members: [AccountID: Member] = [:]
        var current: AccountID?
        var currents = Broadcast<AccountID?>()
    }

    /// One account. It has a lock of its own, held while the app's code makes the manager, so that whoever asks meanwhile
    /// for the same account waits, and whoever asks for another does not.
    private final class Member: Sendable {
        let manager = Locked<TokenManager?>(nil)
    }

    private let store: any AccountStore
    private let makeManager: @Sendable (AccountID, any TokenStore) -> TokenManager
    private let state = Locked(State())
    /// One note at a time, so that the last one asked for is the one that stays.
    private let notes = StoreLane()
    private let limits = TimeLimits(time: .system)

    /// The accounts in a store.
    /// - Parameters:
    ///   - store: Keeps the sessions, and which account is the current one.
    ///   - makeManager: Makes the manager of an account over the store that it is given, and over no other. It is called
    ///     once for each account that is used, and must neither ask for a manager itself nor wait for another thread.
    public init(
        store: any AccountStore, makeManager: @escaping @Sendable (AccountID, any TokenStore) -> TokenManager
    ) {
        self.store = store
        self.makeManager = makeManager
    }

    deinit {
        state.withLock { $0.currents.finish() }.wake()
    }

    /// The manager of an account: always the same one, signed in or not.
    public func tokens(for account: AccountID) -> TokenManager {
        let member = state.withLock { state in
            if let member = state.members[account] { return member }
            let member = Member()
            state.members[account] = member
            return member
        }
        return member.manager.withLock { manager in
            if let manager { return manager }
            let made = makeManager(account, store.store(for: account))
            manager = made
            return made
        }
    }

    /// The accounts that have a stored session, by name.
    /// - Throws: ``StorageFailure``, or what else the store throws, where that cannot be told now.
    public func stored() async throws -> [AccountID] {
        try await store.accounts()
    }

    /// Reads which account was the current one when the app ran last: call it when the app starts.
    /// - Throws: ``StorageFailure``, or what else the store throws, where that cannot be told now.
    @discardableResult
    public func restore() async throws -> AccountID? {
        try await inTurn { accounts in
            let current = try await accounts.store.current()
            accounts.show(current)
            return current
        }
    }

    /// The current account, as it is known; `nil` before ``restore()``, and where there is none.
    public var current: AccountID? {
        state.withLock { $0.current }
    }

    /// The current account as it is now, then each other one. A listener that does not keep up skips to the newest.
    public var currents: AsyncStream<AccountID?> {
        state.withLock { state in
            state.currents.add(first: [state.current], keeping: 1)
        }
    }

    /// Makes an account the current one, signed in or not. What is under way for the others goes on for them.
    ///
    /// It is seen once it has been stored, so that a crash leaves nobody with another account than was shown.
    /// - Throws: ``StorageFailure``, or what else the store throws; then the current account is what it was.
    public func makeCurrent(_ account: AccountID?) async throws {
        try await inTurn { accounts in
            try await accounts.store.setCurrent(account)
            accounts.show(account)
        }
    }

    /// Signs one account out, as ``TokenManager/signOut()`` does, and no other. If it is the current one, none is then.
    /// - Throws: ``StorageFailure``, or what else the store throws, where it could not be noted that no account is the
    ///   current one; the account is signed out all the same.
    public func signOut(_ account: AccountID) async throws {
        await tokens(for: account).signOut()
        try await inTurn { accounts in
            // What is stored decides: it may not have been read yet, or another process may have changed it.
            if try await accounts.store.current() == account { try await accounts.store.setCurrent(nil) }
            if accounts.current == account { accounts.show(nil) }
        }
    }

    private func show(_ account: AccountID?) {
        let listeners = state.withLock { state in
            guard state.current != account else { return Wakeups() }
            state.current = account
            return state.currents.tell(account)
        }
        listeners.wake()
    }

    /// A caller that is cancelled stops waiting, while the work goes on.
    private func inTurn<Value: Sendable>(
        _ work: @escaping @Sendable (Accounts) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let outcome = await limits.run(within: nil) { [self] in
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                notes.enqueue { [self] in
                    do {
                        continuation.resume(returning: try await work(self))
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        }
        return try outcome.get()
    }
}
