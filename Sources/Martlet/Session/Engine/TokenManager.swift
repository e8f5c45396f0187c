public import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Owns a session: provides valid access tokens, refreshes them once for all callers, and publishes the session's
/// state.
///
/// ```swift
/// let tokens = TokenManager(
///     baseURL: "https://api.example.com/v1",
///     store: .file(service: "com.example.app"),
///     refresher: .json(path: "/auth/refresh"))
/// let client = NetworkClient(tokens: tokens)
///
/// await tokens.restore()
/// for await state in tokens.states { … }
/// ```
///
/// Tokens are sent only to the base URL's origin and to the trusted origins.
public final class TokenManager: Sendable {
    // All decisions are made by `SessionStateMachine`. This class holds its lock, performs its actions and reports
    // their results back to it.
    let baseURL: BaseURL
    let scheme: AuthenticationScheme
    let rejection: RejectionRule
    let transport: any Transport
    let time: any TimeSource
    let allowsInsecureHTTP: Bool
    let refresher: any TokenRefresher
    let trustedOrigins: Set<Origin>
    let store: any TokenStore
    let policy: SessionPolicy
    let random: RandomSource
    let tokenEndpoint: TokenEndpointClient
    let limits: TimeLimits
    let storeLimits: TimeLimits
    let storePort: StorePort
    let revocations: Revocations
    let networkReturn: NetworkReturn
    /// The reading of the store under way, for callers whose replays were rejected.
    let lookups: SingleFlight<StoreReading>
    /// State that features of higher layers attach to the session.
    let attachments = Attachments()
    /// Tells this manager from all others of the process, also from those that are gone.
    let number = TokenManager.nextNumber()
    let core: Locked<Core>
    /// The managers whose refresh the current task is part of, each with the session that it refreshes. Detects a
    /// refresher that waits for its own refresh, and keeps its calls from using the token of another session.
    @TaskLocal static var refreshing: [ObjectIdentifier: CallOwner] = [:]

    private static let lastNumber = Locked(0)

    private static func nextNumber() -> Int {
        lastNumber.withLock { number in
            number += 1
            return number
        }
    }

    /// The mutable state of the manager, guarded by one lock.
    struct Core {
        var machine: SessionStateMachine
        /// A copy of the values that the fast path needs, so that it does not copy the machine's state.
        var cached: (credential: Credential, until: Duration?)?
        /// The owner of a call that is made now, copied for the same reason.
        var owner: CallOwner
        /// The owner according to the content of the store when it was first read, for calls that were made before
        /// that.
        var storedOwner: CallOwner?
        /// The tokens that were given to other clients.
        var signed = SignedTokens()
        /// The suspended callers.
        var waiting: [Int: CheckedContinuation<SessionStateMachine.WaiterReply, Never>] = [:]
        /// Cancelled waiters that have not returned yet. One that is cancelled before it suspends must not suspend.
        var cancelledEarly: Set<Int> = []
        var state = SessionState.loading
        var states = Broadcast<SessionState>()
        var events = Broadcast<SessionEvent>()
        /// The refresh in progress, or the last one.
        var refresh: RunningRefresh?
        /// The highest priority of the callers of a refresh whose task is about to start; `nil` if none is.
        var startingPriority: TaskPriority?
        /// The lock of the refresh in progress, until its result is written.
        var refreshLock: (any HeldStoreLock)?
        /// Takes a snapshot of the store whenever another process may have changed it.
        var watch: Task<Void, Never>?
        /// Whether a reading because of such a change waits for its turn.
        var hasQueuedRead = false
        /// The streams that end with the session that they belong to.
        var endings = SessionEndings()

        init(machine: SessionStateMachine) {
            self.machine = machine
            self.owner = machine.callOwner
        }

        func freshCredential(at now: Duration) -> Credential? {
            guard let cached else { return nil }
            guard let until = cached.until, until <= now else { return cached.credential }
            return nil
        }
    }

    /// A refresh, and the highest priority of the callers that wait for it.
    struct RunningRefresh {
        let task: Task<Void, Never>
        /// Raises the priority of the step under way: acquiring the lock, or the exchange with the token endpoint.
        var escalateStep: (@Sendable (TaskPriority) -> Void)?
        var priority: TaskPriority
    }

    /// A manager of one session.
    /// - Parameters:
    ///   - baseURL: The base URL of the API. Tokens are sent to its origin.
    ///   - store: Keeps the session across restarts.
    ///   - refresher: Refreshes tokens in the server's dialect.
    ///   - revoker: Revokes the tokens at the server when a user signs out. If `nil`, the server is not told.
    ///   - scheme: The scheme by which requests carry the access token.
    ///   - rejection: The rule for responses that reject the access token.
    ///   - policy: The rules for refreshes: when, how often, and how long to wait after a failure.
    ///   - trustedOrigins: Further origins that may receive tokens.
    ///   - allowsInsecureHTTP: Whether tokens may be sent over plain `http` to other machines than this one.
    ///   - headers: Header fields for the token endpoint, such as an API key.
    ///   - transport: Sends requests. The token endpoint uses a separate one (``Transport/makeIsolatedTransport()``).
    ///   - connectivity: Ends the backoff after a refresh that failed because there was no network, as soon as the
    ///     device has one again. `nil` waits for the backoff to end by itself.
    ///   - time: The clocks; the system's if `nil`.
    ///   - random: Returns a random number in a range, for jitter. Replace it in tests, so that every delay is known.
    public init(
        baseURL: BaseURL,
        store: any TokenStore,
        refresher: any TokenRefresher,
        revoker: TokenRevoker? = nil,
        scheme: AuthenticationScheme = .bearer,
        rejection: RejectionRule = .unauthorized,
        policy: SessionPolicy = SessionPolicy(),
        trustedOrigins: Set<Origin> = [],
        allowsInsecureHTTP: Bool = false,
        headers: HTTPFields = [:],
        transport: any Transport = .platformDefault,
        connectivity: (any ConnectivityMonitor)? = SystemConnectivityMonitor.shared,
        time: (any TimeSource)? = nil,
        random: @escaping @Sendable (ClosedRange<Double>) -> Double = { .random(in: $0) }
    ) {
        self.baseURL = baseURL
        self.store = store
        self.refresher = refresher
        self.scheme = scheme
        self.rejection = rejection
        self.policy = policy
        self.trustedOrigins = trustedOrigins
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.transport = transport
        self.networkReturn = NetworkReturn(connectivity)
        let time = time ?? .system
        self.time = time
        self.random = RandomSource(random)
        self.tokenEndpoint = TokenEndpointClient(
            baseURL: baseURL, transport: transport.makeIsolatedTransport(), time: time,
            allowsInsecureHTTP: allowsInsecureHTTP,
            headers: headers)
        self.limits = TimeLimits(time: time)
        self.storeLimits = TimeLimits(time: time, keepsSleeper: false)
        self.revocations = Revocations(revoker, over: tokenEndpoint, policy: policy, time: time, limits: limits)
        self.storePort = StorePort(store, timeout: policy.storeTimeout, time: time)
        self.lookups = SingleFlight(time: time, outlivesCallers: true)
        self.core = Locked(
            Core(
                machine: SessionStateMachine(
                    policy: policy, sharesStore: store.lock != nil, readsByItself: !store.readingPromptsUser)))
    }

    deinit {
        let listeners = core.withLock { core in
            core.watch?.cancel()
            var listeners = core.states.finish()
            listeners += core.events.finish()
            return listeners
        }
        listeners.wake()
    }
}

// MARK: - For the app

extension TokenManager {
    /// The current state.
    public var state: SessionState {
        core.withLock { $0.state }
    }

    /// The current state, then every further one. A slow subscriber gets only the newest 16.
    ///
    /// The first subscription reads the store, if that has not happened yet. It refreshes no token; ``restore()`` does.
    public var states: AsyncStream<SessionState> {
        transition { machine in _ = machine.loadRequested(by: machine.makeID()) }
        return core.withLock { core in core.states.subscribe(first: [core.state], keeping: 16) }
    }

    /// All events from now on, for logs, metrics and tests. A slow subscriber gets only the newest 1024.
    public var events: AsyncStream<SessionEvent> {
        core.withLock { core in core.events.subscribe(keeping: 1024) }
    }

    /// Reads the store and refreshes the token if it has expired. Call it when the app starts, to decide which screen
    /// to show.
    ///
    /// It is optional: a call that needs a token does the same.
    /// - Returns: ``SessionState/signedIn(_:)`` (``SignedInSession/isStale`` if the token could not be refreshed now),
    ///   ``SessionState/signedOut``, ``SessionState/expired(_:)``, ``SessionState/unavailable(_:)``, or
    ///   ``SessionState/unreadable(_:)``.
    @discardableResult
    public func restore() async -> SessionState {
        // It belongs to no session: if the session changes, it restores the next one.
        while case .failure(.sessionChanged) = await resolve({ machine, waiter, now in
            machine.tokenRequested(
                for: CallOwner(epoch: machine.epoch, situation: .unknown), by: waiter, at: now)
        }) {}
        return state
    }

    /// Starts a session with the tokens of a server's sign-in response. It replaces the current session, if there is
    /// one.
    ///
    /// Pending calls of the previous session fail with ``NetworkError/sessionChanged(_:)``; they are not sent under the
    /// new one.
    /// - Parameters:
    ///   - bundle: The tokens. Set ``TokenBundle/serverDate`` if they contain dates and the server's clock is known.
    ///   - account: The user, for the app's own use.
    /// - Returns: The session, after it was stored. If the write failed, ``SignedInSession/isSaved`` is `false`, and
    ///   the write is retried.
    /// - Throws: ``SessionError/sessionChanged`` if another sign-in or a sign-out came first. With
    ///   ``SessionPolicy/requiresSavedTokens``, ``SessionError/unavailable(_:)`` if the write failed. A task that is
    ///   cancelled still gets the session, because the session is in force.
    @discardableResult
    public func signIn(
        with bundle: TokenBundle, account: SessionAccount = SessionAccount()
    ) async throws(SessionError) -> SignedInSession {
        try await signIn(with: bundle, account: account, since: nil)
    }

    /// The state after the store was read. No token is refreshed.
    package var loadedState: SessionState {
        get async {
            _ = await wait { machine, waiter, _ in machine.loadRequested(by: waiter) }
            return state
        }
    }

    /// The number of sign-ins and sign-outs so far.
    var epoch: Int { core.withLock { $0.machine.epoch } }

    /// - Parameters:
    ///   - id: The ID of the session that starts.
    ///   - epoch: The epoch in which the sign-in started; `nil` for one that starts now.
    ///   - receivedAt: The uptime at which the tokens arrived; `nil` for now.
    @discardableResult
    func signIn(
        with bundle: TokenBundle, account: SessionAccount, as id: SessionID = SessionID(), since epoch: Int?,
        receivedAt: Duration? = nil
    ) async throws(SessionError) -> SignedInSession {
        let age = receivedAt.map { time.uptime - $0 } ?? .zero
        let now = time.wallClock
        let lifetime = TokenLifetime(of: bundle, wallClock: now.addingTimeInterval(-age.inSeconds))
        let generation = core.withLock { $0.machine.makeGeneration(at: now) }
        let record = StoredSession(
            id: id, generation: generation, bundle: bundle.storable,
            estimatedExpiry: lifetime.map { now.addingTimeInterval(($0.remaining - age).inSeconds) },
            lifetime: lifetime?.total, account: account)
        let deadlines = lifetime.map { lifetime in
            TokenDeadlines(
                obtainedAt: time.uptime - age, remaining: lifetime.remaining, lifetime: lifetime.total,
                policy: policy, jitter: random(in: 0...1))
        }
        // From here on the session is in force, and a cancelled caller must learn that. So the wait has its own task.
        let reply = await Task {
            let deadline = time.uptime + policy.storeTimeout
            let reply = await wait { machine, waiter, _ in
                machine.signedIn(record, deadlines: deadlines, since: epoch, by: waiter)
            }
            await finishEnding(by: deadline)
            return reply
        }.value
        if case .failure(let error) = reply { throw error }
        guard case .signedIn(let session) = state, session.id == record.id else { throw .sessionChanged }
        return session
    }

    /// After a sign-in whose record could not be written: waits until the earlier sessions have been ended in the store. A
    /// command may exit now, and its next start must not bring one back.
    private func finishEnding(by deadline: Duration) async {
        guard core.withLock({ $0.machine.isEnding }) else { return }
        let left = deadline - time.uptime
        guard left > .zero else { return }
        _ = await storeLimits.run(within: left) { [self] in
            while !Task.isCancelled, core.withLock({ $0.machine.isEnding }) {
                _ = await wait { machine, waiter, _ in machine.endingAwaited(by: waiter) }
            }
        }
    }

    /// Ends the session: immediately on this device, then at the server, if there is a ``TokenRevoker``.
    ///
    /// A refresh or a call in progress cannot restore the session. The method returns when the store has deleted the
    /// record or the deletion has failed (``SessionEvent/storeDeleteFailed(_:)``); a failed deletion is retried.
    /// - Parameter limit: The time to wait for the server as well, for a command that exits after the sign-out. The
    ///   revocation continues after that while the process runs (``SessionEvent/revoked``). By default the method does
    ///   not wait for the server.
    public func signOut(waitingForServer limit: Duration = .zero) async {
        // The record must be loaded first: it contains the tokens to revoke.
        _ = await loadedState
        let now = time.wallClock
        transition { machine in machine.signedOut(at: now) }
        _ = await wait { machine, waiter, _ in machine.endingAwaited(by: waiter) }
        if limit > .zero { await revocations.finish(within: limit) }
    }

    /// Refreshes the token even if it has not expired. If a refresh is in progress, the caller waits for it.
    /// - Throws: ``SessionError`` if the refresh failed.
    public func refresh() async throws(SessionError) {
        let owner = currentOwner
        let result = await resolve { machine, waiter, now in
            machine.refreshForced(for: owner, by: waiter, at: now)
        }
        if case .failure(let error) = result { throw error }
    }
}
