/// Manages several accounts that an app is signed in to at the same time. One of them is the current account.
///
/// Each account has its own ``TokenManager``, store and ``NetworkClient``, so sessions cannot mix: a call that starts
/// for one account is signed, refreshed and replayed for that account, even if the current account changes.
///
/// An account is named by any text that the app knows before the sign-in, such as the email address that the user
/// types. If there is none until the server responds, use a new UUID. Names are compared byte by byte: texts that
/// differ only in case are different accounts.
///
/// ```swift
/// let accounts = Accounts(store: .files(service: "com.example.app")) { account, store in
///     TokenManager(baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"))
/// }
/// if let account = try await accounts.restore() {
///     let client = NetworkClient(tokens: accounts.tokens(for: account))
/// }
/// try await accounts.makeCurrent("grace@example.com")
/// for await account in accounts.currentAccounts { … }
/// ```
public final class Accounts: Sendable {
    /// The accounts asked for so far, the current account, and its subscribers.
    private struct State {
        var members: [AccountID: Member] = [:]
        var current: AccountID?
        var currentAccounts = Broadcast<String?>()
        /// The number of changes of the current account that the app has asked for.
        var asked = 0
        /// The number of the last one that was made.
        var made = 0
    }

    /// One account. Its lock is held while the app's code makes the manager, so only callers for this account wait.
    private final class Member: Sendable {
        let manager = Locked<TokenManager?>(nil)
    }

    private let store: AccountStore
    private let makeManager: @Sendable (String, any TokenStore) -> TokenManager
    private let state = Locked(State())
    /// Runs changes of the current account one at a time, so that the last one wins.
    private let changes = SerialQueue()

    /// Creates a manager for the accounts in a store.
    /// - Parameters:
    ///   - store: Keeps the sessions and the current account.
    ///   - makeManager: Creates an account's token manager, which uses the given store. It is called once per account,
    ///     and must neither call ``tokens(for:)`` nor wait for another thread.
    public init(
        store: AccountStore, makeManager: @escaping @Sendable (_ account: String, any TokenStore) -> TokenManager
    ) {
        self.store = store
        self.makeManager = makeManager
    }

    deinit {
        state.withLock { $0.currentAccounts.finish() }.wake()
    }

    /// The manager of an account, whether it is signed in or not. It is always the same instance.
    public func tokens(for account: String) -> TokenManager {
        let account = AccountID(rawValue: account)
        let member = state.withLock { state in
            if let member = state.members[account] { return member }
            let member = Member()
            state.members[account] = member
            return member
        }
        return member.manager.withLock { manager in
            if let manager { return manager }
            let made = makeManager(account.rawValue, store.store(for: account))
            manager = made
            return made
        }
    }

    /// The accounts that have a stored session, sorted.
    /// - Throws: ``StorageError``, or another error of the store, if the store cannot be read.
    public func stored() async throws -> [String] {
        try await store.accounts().map(\.rawValue)
    }

    /// Reads the current account of the last run. Call it when the app starts.
    /// - Throws: ``StorageError``, or another error of the store, if the store cannot be read.
    @discardableResult
    public func restore() async throws -> String? {
        try await enqueue { accounts in
            let current = try await accounts.store.current()
            accounts.publish(current)
            return current?.rawValue
        }
    }

    /// The current account; `nil` before ``restore()``, or if there is none.
    public var current: String? {
        state.withLock { $0.current?.rawValue }
    }

    /// The current account, then every change. A slow subscriber gets only the newest value.
    public var currentAccounts: AsyncStream<String?> {
        state.withLock { state in
            state.currentAccounts.subscribe(first: [state.current?.rawValue], keeping: 1)
        }
    }

    /// Makes an account the current one, whether it is signed in or not. Calls in progress continue under their own
    /// account.
    ///
    /// The change is stored before it is published, so that after a crash the app shows the same account as before.
    /// - Throws: ``StorageError``, or another error of the store; then the current account does not change.
    public func makeCurrent(_ account: String?) async throws {
        let account = account.map(AccountID.init(rawValue:))
        let number = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        try await enqueue { accounts in
            try await accounts.store.setCurrent(account)
            accounts.state.withLock { $0.made = number }
            accounts.publish(account)
        }
    }

    /// Signs one account out, as ``TokenManager/signOut(waitingForServer:)`` does. If it is the current account, there
    /// is no current account afterwards.
    /// - Throws: ``StorageError``, or another error of the store, if the current account could not be changed. The
    ///   account is signed out in any case, even if the task is cancelled.
    public func signOut(_ account: String) async throws {
        let asked = state.withLock { $0.asked }
        await tokens(for: account).signOut()
        let account = AccountID(rawValue: account)
        // The account must not stay the current one, unless the app has made it current again.
        try await enqueue(evenIfCancelled: true) { accounts in
            guard accounts.state.withLock({ $0.made }) <= asked else { return }
            // Compare with the stored value: ``current`` may be outdated, or not read yet.
            if try await accounts.store.current() == account { try await accounts.store.setCurrent(nil) }
            if accounts.state.withLock({ $0.current }) == account { accounts.publish(nil) }
        }
    }

    private func publish(_ account: AccountID?) {
        let listeners = state.withLock { state in
            guard state.current != account else { return Wakeups() }
            state.current = account
            return state.currentAccounts.send(account?.rawValue)
        }
        listeners.wake()
    }

    /// Runs work one at a time. A cancelled caller stops waiting, unless its work must be done in any case; the work
    /// continues.
    private func enqueue<Value: Sendable>(
        evenIfCancelled: Bool = false, _ work: @escaping @Sendable (Accounts) async throws -> Value
    ) async throws -> Value {
        if !evenIfCancelled { try Task.checkCancellation() }
        let (results, result) = AsyncThrowingStream<Value, any Error>.makeStream()
        // Added now, so that changes are made in the order in which they were asked for.
        changes.add { [self] turn in
            await turn()
            do {
                result.yield(try await work(self))
                result.finish()
            } catch {
                result.finish(throwing: error)
            }
        }
        @Sendable func first() async throws -> Value {
            for try await value in results { return value }
            throw CancellationError()
        }
        return try await evenIfCancelled ? Task { try await first() }.value : first()
    }
}
