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
/// Task { await tokens.restore() }
/// for await state in tokens.states { … }
/// ```
///
/// API requests carry the token only to the base URL's origin and to the trusted origins.
public final class TokenManager: Sendable {
    // All decisions are made by `SessionStateMachine`. This class holds its lock, performs its actions and reports
    // their results back to it.

    // The client and its features read these.
    let baseURL: BaseURL
    let scheme: AuthenticationScheme
    let accessTokenRejection: AccessTokenRejectionRule
    let refresher: any TokenRefresher
    let transport: any Transport
    let time: any TimeSource
    let trustedOrigins: Set<Origin>
    let allowsInsecureHTTP: Bool
    /// State that features of higher layers attach to the session.
    let attachments = Attachments()
    /// Identifies this manager in the process. The number is never reused.
    let number = TokenManager.nextNumber()

    private let store: any TokenStore
    private let policy: SessionPolicy
    private let random: RandomSource
    private let tokenEndpoint: TokenEndpointClient
    private let limits: TimeLimits
    private let storeLimits: TimeLimits
    private let storePort: StorePort
    private let revocations: Revocations
    private let networkReturn: NetworkReturn
    /// Reads the store once for all callers whose replays were rejected.
    private let lookups: SingleFlight<StoreReading>
    private let core: Locked<Core>
    /// The managers whose refreshers the current task is part of. A refresher's calls to its own manager must neither
    /// wait for its refresh nor use another session's token.
    @TaskLocal fileprivate static var refreshing: [ObjectIdentifier: RunningRefresher] = [:]

    fileprivate final class RunningRefresher: Sendable {
        /// The session that is refreshed.
        let owner: CallOwner
        /// The epoch at the start, or after the refresher's own latest sign-in or sign-out. In any other one, it must
        /// not change the session.
        let epoch: Locked<Int>
        /// A task that outlives the refresher inherits the task-local value, but makes calls like any other.
        let isOver = Locked(false)

        init(of owner: CallOwner) {
            self.owner = owner
            epoch = Locked(owner.epoch)
        }

        /// The refresher has signed in or out.
        func recordSessionChange(in machine: borrowing SessionStateMachine) {
            let now = machine.epoch
            epoch.withLock { $0 = now }
        }
    }

    private static let lastNumber = Locked(0)

    private static func nextNumber() -> Int {
        lastNumber.withLock { number in
            number += 1
            return number
        }
    }

    /// The mutable state of the manager, guarded by one lock.
    struct Core {
        fileprivate(set) var machine: SessionStateMachine
        /// The values that the fast path needs, cached so that it need not copy the machine's state.
        fileprivate var cached: (credential: Credential, until: Duration?)?
        /// The owner of a call that is made now, cached for the same reason.
        fileprivate var owner: CallOwner
        /// The owner of calls that were made before the store was read, according to its content.
        fileprivate var storedOwner: CallOwner?
        /// The tokens that were given to other clients.
        fileprivate var signed = SignedTokens()
        /// The suspended callers.
        fileprivate(set) var waiting: [Int: CheckedContinuation<SessionStateMachine.WaiterReply, Never>] = [:]
        fileprivate var state = SessionState.loading
        fileprivate(set) var states = Broadcast<SessionState>()
        fileprivate var events = Broadcast<SessionEvent>()
        fileprivate var networkReturns = Broadcast<Void>()
        /// The refresh in progress, or the last one.
        fileprivate(set) var refresh: RunningRefresh?
        /// The highest priority of the callers that wait for a refresh whose task is about to start; `nil` if none is.
        fileprivate(set) var startingPriority: TaskPriority?
        /// The lock of the refresh in progress, until its result is written.
        fileprivate var refreshLock: (any HeldStoreLock)?
        /// Handle the responses of the token endpoint. If a session ends, its refresh does not wait for the response.
        fileprivate var responses: [SessionStateMachine.JobID: Task<Void, Never>] = [:]
        /// The refresh that waits for the lock or for its response, and the end of that wait.
        fileprivate var awaited: (job: SessionStateMachine.RefreshJob, stop: @Sendable () -> Void)?
        /// Reads the store again whenever another process may have changed it.
        fileprivate var watch: Task<Void, Never>?
        /// Whether such a reading waits for its turn.
        fileprivate var hasQueuedRead = false
        /// The work to do when calls or sessions end, such as closing a stream.
        fileprivate(set) var endings = SessionEndings()

        fileprivate init(policy: SessionPolicy, store: any TokenStore) {
            machine = SessionStateMachine(
                policy: policy, sharesStore: store.refreshLock != nil, readsByItself: !store.readingPromptsUser)
            owner = machine.callOwner
        }

        fileprivate func freshCredential(at now: Duration) -> Credential? {
            guard let cached else { return nil }
            guard let until = cached.until, until <= now else { return cached.credential }
            return nil
        }
    }

    /// A refresh, and the highest priority of the callers that wait for it.
    struct RunningRefresh {
        let task: Task<Void, Never>
        /// Raises the priority of the current step: acquiring the lock, or the exchange with the token endpoint.
        var escalateStep: (@Sendable (TaskPriority) -> Void)?
        var priority: TaskPriority
    }

    /// Creates a manager for one session.
    /// - Parameters:
    ///   - baseURL: The base URL of the API. Tokens are sent to its origin.
    ///   - store: Keeps the session across restarts.
    ///   - refresher: Refreshes tokens in the server's dialect.
    ///   - revoker: Revokes the tokens at the server when a user signs out. If `nil`, the server is not notified.
    ///   - scheme: The scheme by which requests carry the access token.
    ///   - accessTokenRejection: The rule for responses that reject the access token.
    ///   - policy: The rules for refreshes: when, how often, and how long to wait after a failure.
    ///   - trustedOrigins: Further origins that may receive tokens.
    ///   - allowsInsecureHTTP: Whether tokens may be sent over plain `http` to machines other than this one.
    ///   - headers: Header fields for the token endpoint, such as an API key.
    ///   - transport: Sends requests. The token endpoint uses a separate one (``Transport/makeIsolatedTransport()``).
    ///   - connectivity: After a refresh that failed because there was no network, ends the backoff as soon as the
    ///     device is connected again. With `nil`, the backoff always runs to its end.
    ///   - time: The clocks; the system's if `nil`.
    ///   - random: Returns a random number in a range, for jitter. Replace it in tests, so that every delay is known.
    public init(
        baseURL: BaseURL,
        store: any TokenStore,
        refresher: any TokenRefresher,
        revoker: TokenRevoker? = nil,
        scheme: AuthenticationScheme = .bearer,
        accessTokenRejection: AccessTokenRejectionRule = .unauthorized,
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
        self.accessTokenRejection = accessTokenRejection
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
            allowsInsecureHTTP: allowsInsecureHTTP, headers: headers, attemptTimeout: policy.attemptTimeout)
        self.limits = TimeLimits(time: time)
        self.storeLimits = TimeLimits(time: time, keepsSleeper: false)
        self.revocations = Revocations(
            revoker, over: tokenEndpoint, rejection: accessTokenRejection, policy: policy, limits: limits)
        self.storePort = StorePort(store, timeout: policy.storeTimeout, time: time)
        self.lookups = SingleFlight(time: time, outlivesCallers: true)
        self.core = Locked(Core(policy: policy, store: store))
    }

    deinit {
        let listeners = core.withLock { core in
            core.watch?.cancel()
            var listeners = core.states.finish()
            listeners += core.events.finish()
            listeners += core.networkReturns.finish()
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

    /// The current state, then every later one. A slow subscriber gets only the newest 16.
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
        // The restoration belongs to no session: if the session changes, restore the next one.
        while case .failure(.sessionChanged) = await resolve({ machine, waiter, now in
            machine.tokenRequested(
                for: CallOwner(epoch: machine.epoch, signInState: .unknown), by: waiter, at: now)
        }) {}
        return state
    }

    /// Starts a session with the tokens of a server's sign-in response. It replaces the current session, if there is
    /// one.
    ///
    /// Pending calls of the previous session fail with ``NetworkError/sessionChanged(_:)``; they are not sent under the
    /// new one.
    /// - Parameters:
    ///   - tokens: The tokens that the server issued. Set ``Tokens/serverDate`` if they contain dates and the server's
    ///     clock is known.
    ///   - account: The user. The app reads it from ``SignedInSession/account``. If its ``SessionAccount/userID`` is
    ///     that of an earlier session, kept downloads and background transfers of that user continue.
    /// - Returns: The session, after it was stored. If the write failed, ``SignedInSession/isSaved`` is `false`, and
    ///   the write is retried.
    /// - Throws: ``SessionError/sessionChanged`` if another sign-in or a sign-out came first. With
    ///   ``SessionPolicy/requiresSavedTokens``, ``SessionError/unavailable(_:)`` if the write failed. A cancelled task
    ///   still gets the session, because the sign-in has taken effect.
    @discardableResult
    public func signIn(
        with tokens: Tokens, account: SessionAccount = SessionAccount()
    ) async throws(SessionError) -> SignedInSession {
        try await signIn(with: tokens, account: account, since: nil)
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

    /// Whether a sign-in that a user has requested in an epoch may still start a session.
    func acceptsSignIn(since epoch: Int) -> Bool { core.withLock { $0.machine.acceptsSignIn(since: epoch) } }

    /// - Parameters:
    ///   - id: The ID of the session that starts.
    ///   - epoch: The epoch in which the sign-in started; `nil` for one that starts now.
    ///   - age: How long ago the tokens arrived.
    @discardableResult
    package func signIn(
        with tokens: Tokens, account: SessionAccount, as id: SessionID = SessionID(), since epoch: Int?,
        age: Duration = .zero
    ) async throws(SessionError) -> SignedInSession {
        let now = time.wallClock
        let lifetime = TokenLifetime(of: tokens, wallClock: now.addingTimeInterval(-age.inSeconds))
        let generation = core.withLock { $0.machine.makeGeneration(at: now) }
        let record = StoredSession(
            id: id, generation: generation, tokens: tokens.storable,
            estimatedExpiry: lifetime.map { now.addingTimeInterval(($0.remaining - age).inSeconds) },
            lifetime: lifetime?.total, account: account)
        let deadlines = lifetime.map { lifetime in
            TokenDeadlines(
                obtainedAt: time.uptime - age, remaining: lifetime.remaining, lifetime: lifetime.total,
                policy: policy, jitter: random(in: 0...1))
        }
        // The sign-in takes effect now, and even a cancelled caller must learn that. So a separate task waits for it.
        let unattended = unattendedSignIn
        let reply = await Task { await begin(record, deadlines, since: epoch, unattended) }.value
        // A sign-out that came first cancelled this sign-in; the caller had no session to lose.
        if case .failure(let error) = reply { throw error == .signedOut ? .sessionChanged : error }
        guard case .signedIn(let session) = state, session.id == record.id else { throw .sessionChanged }
        return session
    }

    /// Starts a session, and waits until the store has saved it or has failed to.
    private func begin(
        _ record: StoredSession, _ deadlines: TokenDeadlines?, since epoch: Int?, _ unattended: UnattendedSignIn?
    ) async -> SessionStateMachine.WaiterReply {
        let deadline = time.uptime + policy.storeTimeout
        let refresher = runningRefresher
        let reply = await wait { machine, waiter, _ in
            let start =
                epoch ?? refresher?.epoch.withLock { $0 } ?? unattended?.permittedEpoch(in: machine)
            let reply = machine.signedIn(
                record, deadlines: deadlines, since: start, isUnattended: unattended != nil, by: waiter)
            if reply == .wait {
                refresher?.recordSessionChange(in: machine)
                unattended?.recordSessionChange(in: machine)
            }
            return reply
        }
        // A command-line tool may exit now, and its next start must not restore an earlier session.
        await waitForStore(until: deadline) { machine in machine.isEnding }
        return reply
    }

    /// Waits while the store is asked to end sessions or to save a sign-in.
    private func waitForStore(
        until deadline: Duration, while isPending: @escaping @Sendable (borrowing SessionStateMachine) -> Bool
    ) async {
        guard core.withLock({ isPending($0.machine) }) else { return }
        let left = deadline - time.uptime
        guard left > .zero else { return }
        _ = await storeLimits.run(within: left) { [self] in
            while !Task.isCancelled, core.withLock({ isPending($0.machine) }) {
                _ = await wait { machine, waiter, _ in machine.changeAwaited(by: waiter) }
            }
        }
    }

    /// Ends the session: immediately on this device, then at the server, if there is a ``TokenRevoker``.
    ///
    /// A refresh or a call in progress cannot restore the session, and a sign-in in progress starts none. The method
    /// returns when the store has deleted the record or the deletion has failed
    /// (``SessionEvent/storeDeleteFailed(_:)``), even if the task is cancelled. It waits for the store for at most twice
    /// ``SessionPolicy/storeTimeout``. A failed deletion is retried. Called by a refresher or an automatic sign-in, it
    /// does nothing once another user has signed in.
    /// - Parameter limit: The longest time to wait for the server, for a command-line tool that exits after the
    ///   sign-out. If the server does not respond in time, the method reports ``SessionEvent/revocationFailed(_:)``,
    ///   and the revocation continues while the process runs (``SessionEvent/revoked``). `signOut()` does not wait for
    ///   the server. If a refresh is under way, its response is awaited too, because its tokens must be revoked.
    /// - Returns: Whether the server has confirmed in time that it has revoked the tokens, and those of earlier
    ///   sign-outs whose revocation was still under way. If no user was signed in and no revocation was under
    ///   way, it is `true`, unless `limit` is zero.
    @discardableResult
    public func signOut(waitingForServer limit: Duration) async -> Bool {
        // A task of its own: even if this one is cancelled, the record is deleted when the method returns.
        let ended = await Task { await endSession(revoking: limit > .zero) }.value
        guard let revocation = ended.revocation else { return ended.wasSignedOut && limit > .zero }
        let deadline = time.uptime + limit
        var hasEnded = true
        if !ended.responses.isEmpty {
            let result = await storeLimits.run(within: limit) {
                for response in ended.responses { await response.value }
            }
            if case .failure = result { hasEnded = false }
        }
        let ending = await revocations.finish(revocation, within: max(deadline - time.uptime, .zero))
        if ending == .late || !hasEnded && ending == .confirmed {
            publish(.revocationFailed("the server has not responded within \(limit.inSeconds.shortText) s"))
        }
        return hasEnded && (ending == .confirmed || ending == .nothing && ended.wasSignedOut)
    }

    /// The result of a sign-out on this device.
    private struct EndedSession: Sendable {
        /// A wait for the server; `nil` if the caller does not wait, or without a revoker.
        let revocation: Revocations.Wait?
        /// Refreshes that the server may already have answered with new tokens. They are revoked when the response
        /// arrives, which a refresher that signs out must not wait for.
        let responses: [Task<Void, Never>]
        /// Whether no user was signed in.
        let wasSignedOut: Bool
        /// The ID token of the user who was signed in.
        var idToken: Secret?
    }

    /// Signs out as ``signOut(waitingForServer:)`` does, without waiting for the server.
    /// - Returns: The ID token of the user whom this has signed out.
    package func signOutReturningIDToken() async -> Secret? {
        await Task { await endSession(revoking: false).idToken }.value
    }

    /// Ends the session on this device, and waits for the store.
    /// - Parameter waits: Whether the caller waits for the server.
    private func endSession(revoking waits: Bool) async -> EndedSession {
        let revocation = waits ? revocations.startWait() : nil
        let unattended = unattendedSignIn
        let (start, responses) = requestSignOut(awaitingResponses: revocation != nil)
        guard let start else {
            return EndedSession(revocation: revocation, responses: responses, wasSignedOut: false)
        }
        // The sign-out may have to wait for the record. If it cannot be read, the session ends without it.
        _ = await loadedState
        let ended = transitionCore { core in
            core.machine.performAwaitedSignOut()
            let signOut = core.machine.lastSignOut
            // A user who has signed in since stays signed in.
            if signOut.epoch >= start, signOut.epoch == core.machine.epoch {
                unattended?.recordSessionChange(in: core.machine)
            }
            core.machine.forgetIDToken()
            return EndedSession(
                revocation: revocation, responses: responses,
                wasSignedOut: signOut.epoch >= start && !signOut.hadSession,
                idToken: signOut.epoch >= start ? signOut.idToken : nil)
        }
        // A sign-in that comes in between replaces the record. If it cannot, it ends the former session. Later changes
        // may follow, so the time is limited to that of the first attempt, which has begun.
        await waitForStore(until: time.uptime + policy.storeTimeout) { machine in
            machine.isEnding || machine.isStartingSession
        }
        return ended
    }

    /// The first step of a sign-out.
    /// - Returns: The epoch that begins with it; `nil` if there is nothing to end. And the refreshes that the server may
    ///   already have answered, if they are to be awaited.
    private func requestSignOut(awaitingResponses awaits: Bool) -> (start: Int?, responses: [Task<Void, Never>]) {
        let now = time.wallClock
        let (refresher, unattended) = (runningRefresher, unattendedSignIn)
        return transitionCore { core in
            let responses = awaits && refresher == nil ? Array(core.responses.values) : []
            // A refresh or an automatic sign-in that this is a part of concerns no later user.
            let epoch = refresher?.epoch.withLock { $0 } ?? core.machine.epoch
            if epoch != core.machine.epoch || unattended?.isSuperseded(in: core.machine) == true {
                return (nil, responses)
            }
            core.machine.signOutRequested(at: now)
            refresher?.recordSessionChange(in: core.machine)
            return (core.machine.epoch, responses)
        }
    }

    /// Waits until a refresh under way has ended, and asks the store once more to write what it could not write. Call
    /// it at the end of a program that exits when its work is done.
    ///
    /// A call may start a refresh ahead of time and not wait for it, because its token is still valid. If the process
    /// exits after the server has replaced the refresh token and before the new one is stored, a strict server ends the
    /// session.
    ///
    /// A cancelled task waits as well, so that a program can call it after an interrupt.
    /// - Parameter limit: The longest wait. The default is 30 s.
    /// - Returns: Whether nothing is left to do. It is `false` if a refresh has not ended within the limit, or if the
    ///   store cannot be written (``SignedInSession/isSaved``).
    @discardableResult
    public func finishPendingWork(within limit: Duration = .seconds(30)) async -> Bool {
        // A refresher must not wait for itself.
        guard !isRefreshingHere else { return false }
        // A task of its own is not cancelled with the caller.
        return await Task { await endPendingWork(within: limit) }.value
    }

    private func endPendingWork(within limit: Duration) async -> Bool {
        let result = await storeLimits.run(within: limit) { [self] in
            var last: Task<Void, Never>?
            while true {
                let (refresh, responses) = core.withLock { ($0.refresh?.task, Array($0.responses.values)) }
                // Another refresh may have followed.
                if refresh == last, responses.isEmpty { break }
                await refresh?.value
                // Tokens that arrive after the end of their session are revoked.
                for response in responses { await response.value }
                last = refresh
            }
            await flushStore()
            guard hasPendingWork else { return }
            // The store has failed. The next attempt waits longer than a program that is about to exit may.
            transition { machine in machine.saveRequested() }
            await flushStore()
        }
        guard case .success = result else { return false }
        return !hasPendingWork
    }

    private var hasPendingWork: Bool {
        core.withLock { $0.machine.needs(.write) || $0.machine.needs(.end) }
    }

    /// Refreshes the token even if it has not expired. If a refresh is in progress, the caller waits for it.
    ///
    /// During the backoff after a failure, the method throws that failure and sends nothing. One failure is tried again
    /// at once: a 4xx that has a ``RefreshError/code`` and no `Retry-After`. The app may have done what the server
    /// asked for.
    /// - Returns: The new tokens, or newer ones of the same session.
    /// - Throws: ``SessionError`` if the refresh failed.
    @discardableResult
    public func refresh() async throws(SessionError) -> Tokens {
        let owner = currentOwner
        let result = await resolve { machine, waiter, now in
            machine.refreshForced(for: owner, by: waiter, at: now)
        }
        return try await currentTokens(with: try result.get(), of: owner)
    }
}

// MARK: - For code that reads the session's tokens itself: a WebSocket, gRPC, a screen that shows the user's rights

extension TokenManager {
    /// The tokens of the current session, without waiting and without a request. They may have expired
    /// (``Tokens/isExpired(at:)``); ``validTokens()`` refreshes them first.
    ///
    /// ``Tokens/expiresAt`` is the manager's estimate by this device's clock, or `nil` if the server has not said how
    /// long the token is valid. ``Tokens/lifetime`` is always `nil`.
    ///
    /// The property is `nil` if no user is signed in, until the store has been read, while a sign-in is being saved,
    /// and while ``SessionPolicy/requiresSavedTokens`` keeps the tokens from being used.
    public var currentTokens: Tokens? {
        core.withLock { $0.machine.currentTokens }
    }

    /// The tokens of the current session, after a refresh if the access token has expired or was rejected.
    ///
    /// Use the access token for connections that Martlet does not make itself, such as WebSockets and gRPC. If a
    /// refresh is in progress, the caller waits for it. A request that the app signs with this token can be passed to
    /// `recover(from:body:to:)`, like one signed by `sign(_:_:)`.
    /// - Throws: ``SessionError`` if there is no valid token; ``SessionError/sessionChanged`` if the session that was
    ///   current when the method was called has ended.
    public func validTokens() async throws(SessionError) -> Tokens {
        let owner = currentOwner
        return try await currentTokens(with: try await credential(for: owner).get(), of: owner)
    }

    /// The tokens of a credential or, if they have been replaced by now, their successors, because the server may no
    /// longer accept the old ones.
    private func currentTokens(
        with first: Credential, of owner: CallOwner
    ) async throws(SessionError) -> Tokens {
        var credential = first
        while true {
            let tokens = core.withLock { core -> Tokens? in
                guard core.machine.stamp(of: credential.accessToken) == credential.stamp else { return nil }
                core.signed.remember(credential)
                return core.machine.currentTokens
            }
            if let tokens { return tokens }
            credential = try await self.credential(for: owner).get()
        }
    }
}

// MARK: - For the client

extension TokenManager {
    /// The owner of a call that is made now. A call that a refresher makes belongs to the session that it refreshes.
    package var currentOwner: CallOwner {
        refreshOwner ?? core.withLock { $0.owner }
    }

    /// The owner of a sign-in that starts now. It belongs to the latest epoch, even while another sign-in, which it
    /// replaces, is being saved. A part of an unattended sign-in belongs to the epoch in which that began.
    package var signInOwner: CallOwner {
        signInOwner { core in CallOwner(epoch: core.machine.epoch, signInState: core.owner.signInState) }
    }

    /// The owner of a sign-in that gives way to any other one, even to one that is being saved.
    package var automaticSignInOwner: CallOwner {
        signInOwner { $0.owner }
    }

    private func signInOwner(_ owner: (borrowing Core) -> CallOwner) -> CallOwner {
        refreshOwner ?? supersededOwner ?? core.withLock { owner($0) }
    }

    /// The outdated owner of a part of an unattended sign-in, if a user has signed in since that sign-in began.
    var supersededOwner: CallOwner? {
        guard let unattended = unattendedSignIn else { return nil }
        return core.withLock { core in
            guard unattended.isSuperseded(in: core.machine),
                let epoch = unattended.permittedEpoch(in: core.machine)
            else { return nil }
            return CallOwner(epoch: epoch, signInState: .signedOut)
        }
    }

    /// Waits while a sign-in is being saved.
    func startedSession() async {
        await waitForStore(until: time.uptime + policy.storeTimeout) { $0.isStartingSession }
    }

    /// The unattended sign-in to this manager that the current task is part of.
    var unattendedSignIn: UnattendedSignIn? {
        UnattendedSignIn.current[ObjectIdentifier(self)].flatMap { $0.isOver ? nil : $0 }
    }

    /// The first step of a call: its owner and, without suspending, a token that needs no refresh.
    func beginCall(at now: Duration) -> (owner: CallOwner, credential: Credential?) {
        if let owner = refreshOwner { return (owner, freshCredential(for: owner)) }
        return core.withLock { core in (core.owner, core.freshCredential(at: now)) }
    }

    /// Whether calls would still get this token without waiting.
    func isFresh(_ credential: Credential) -> Bool {
        let now = time.uptime
        return core.withLock { core in
            guard let cached = core.cached, cached.credential.stamp == credential.stamp else { return false }
            return cached.until.map { now < $0 } ?? true
        }
    }

    /// A token that needs no refresh, without suspending. This is the fast path.
    func freshCredential(for owner: CallOwner) -> Credential? {
        let now = time.uptime
        return core.withLock { core in
            guard owner.epoch == core.owner.epoch else { return nil }
            return core.freshCredential(at: now)
        }
    }

    /// Waits until the store has been read, for a call that was made before that.
    /// - Returns: The owner, with the session that the store contained. It is unchanged if the call was made later, if
    ///   the store cannot be read, or if a user signed in before it was read.
    func resolved(_ owner: CallOwner) async -> CallOwner {
        guard owner.signInState == .unknown else { return owner }
        _ = await loadedState
        return resolvedNow(owner)
    }

    /// Like ``resolved(_:)``, without waiting for the store.
    func resolvedNow(_ owner: CallOwner) -> CallOwner {
        guard owner.signInState == .unknown else { return owner }
        return core.withLock { core in
            guard let stored = core.storedOwner, stored.epoch == owner.epoch else { return owner }
            return stored
        }
    }

    /// Resolves the owner once the store has been read.
    /// - Throws: ``SessionError/unavailable(_:)`` if it cannot be read.
    func known(_ owner: CallOwner) async throws(SessionError) -> CallOwner {
        let owner = await resolved(owner)
        guard owner.signInState == .unknown else { return owner }
        if let failure = core.withLock({ $0.machine.readFailure }) { throw .unavailable(failure) }
        // The store has been read in the meantime.
        return await resolved(owner)
    }

    /// The stored form of a call's owner, for work that outlives the call. Waits until the store has been read.
    /// - Throws: An error if the owner has ended.
    package func storedOwner(of owner: CallOwner) async throws(SessionError) -> StoredOwner {
        let owner = await resolved(owner)
        // A call that began without a user continues without one, even if a user has signed in by now.
        if [.signedOut, .expired].contains(owner.signInState) { return .noUser }
        let state = await loadedState
        if let error = endError(for: owner) { throw error }
        switch state {
        case .signedIn(let session) where owner.session == nil || owner.session == session.id:
            return StoredOwner(session)
        case .signedOut where owner.session == nil, .expired where owner.session == nil: return .noUser
        case .signedIn, .signedOut, .expired: throw .sessionChanged
        case .loading, .unavailable, .unreadable: return .unreadStore
        }
    }

    /// A valid token. Suspends while the store is read or a refresh is in progress.
    /// - Parameters:
    ///   - need: The time that the token must last, for a long request. If necessary, it is refreshed first.
    ///   - owner: The session that the call belongs to.
    ///   - permission: Whether the caller may probe a token that the server has rejected at another endpoint.
    func credential(
        lasting need: Duration? = nil, for owner: CallOwner, _ permission: SessionStateMachine.ProbePermission = .waits
    ) async -> Result<Credential, SessionError> {
        if need == nil, let credential = freshCredential(for: owner) { return .success(credential) }
        let reply = await resolveCurrent { machine, waiter, now in
            machine.tokenRequested(lasting: need, for: owner, permission, by: waiter, at: now)
        }
        switch reply {
        case .failure(.refreshFailed(let failure)):
            let now = time.uptime
            return core.withLock { $0.machine.credential(despite: failure, for: owner, at: now) }
        // A call that belongs to a session must not continue without one.
        case .failure(.signedOut): return await resolved(owner).session == nil ? reply : .failure(.sessionChanged)
        // A call that was made before an empty store was read continues like one that was made afterwards.
        case .failure(.sessionChanged) where owner.signInState == .unknown:
            return await resolved(owner).signInState == .signedOut ? .failure(.signedOut) : reply
        default: return reply
        }
    }

    /// The token of the session as it is, even if it has expired or was rejected. Suspends only while the store is read
    /// or a sign-in is saved, never for a refresh.
    func presentCredential(for owner: CallOwner) async -> Result<Credential, SessionError> {
        while true {
            switch await wait({ machine, waiter, _ in machine.presentTokenRequested(for: owner, by: waiter) }) {
            case .token(let credential): return .success(credential)
            // A call that belongs to a session must not continue without one.
            case .failure(.signedOut) where await resolved(owner).session != nil: return .failure(.sessionChanged)
            case .failure(.sessionChanged) where owner.signInState == .unknown:
                return .failure(await resolved(owner).signInState == .signedOut ? .signedOut : .sessionChanged)
            case .failure(let error): return .failure(error)
            case .refreshedElsewhere, .askAgain, .wait: continue
            }
        }
    }

    /// A token of the same session that replaces one that the server rejected.
    func credential(replacing stamp: SessionStamp) async -> Result<Credential, SessionError> {
        let reply = await resolveCurrent { machine, waiter, now in
            machine.tokenRejected(stamp, reportedBy: waiter, at: now)
        }
        // The request belonged to a session, and must not continue without one.
        if case .failure(.signedOut) = reply { return .failure(.sessionChanged) }
        return reply
    }

    /// Asks for a token, and once more if it is already useless when the caller gets it: it may have expired, or its
    /// session may have ended, while it was being saved or the device slept.
    private func resolveCurrent(_ ask: @escaping MachineRequest) async -> Result<Credential, SessionError> {
        for _ in 0..<2 {
            let reply = await resolve(ask)
            guard case .success(let credential) = reply else { return reply }
            let now = time.uptime
            guard core.withLock({ $0.machine.isStale(credential.stamp, at: now) }) else { return reply }
        }
        return .failure(
            .refreshFailed(
                RefreshError(.timedOut, description: "the new access token has expired before it could be used")))
    }

    /// Reports that the server rejected a token. From now on, callers wait for the next one.
    /// - Returns: Whether the rejection came before a refresh was sent.
    func reportRejection(of stamp: SessionStamp) -> Bool {
        let now = time.uptime
        return transition { machine in machine.tokenRejected(stamp, at: now) }
    }

    func reportAcceptance(of stamp: SessionStamp, _ acceptance: SessionStateMachine.Acceptance) {
        transition { machine in machine.tokenAccepted(stamp, acceptance) }
    }

    /// Whether a request signed with this token may still be sent.
    func isUsable(_ credential: Credential) -> Bool {
        let now = time.uptime
        return core.withLock { core in
            guard let prober = credential.prober else { return core.machine.isUsable(credential.stamp) }
            return core.machine.mayProbe(credential.stamp, by: prober, at: now)
        }
    }

    /// The uptime at which a request for the token would start a refresh; `nil` if none would.
    func nextRefresh() -> Duration? {
        core.withLock { $0.machine.nextRefresh() }
    }

    /// Whether a request that has waited with this token needs another token before it is sent.
    func isOutdated(_ stamp: SessionStamp) -> Bool {
        let now = time.uptime
        return core.withLock { $0.machine.isOutdated(stamp, at: now) }
    }

    /// Whether the session has a newer token than one that a request carries.
    func isReplaced(_ stamp: SessionStamp) -> Bool {
        core.withLock { $0.machine.hasSuccessor(of: stamp) }
    }

    /// Whether a token is the session's access token, even if it has expired or was rejected.
    func isCurrent(_ credential: Credential) -> Bool {
        stamp(ofCurrent: credential.accessToken) == credential.stamp
    }

    /// The reason why nothing more may be sent or received for a call; `nil` if its session continues.
    func endError(for owner: CallOwner) -> SessionError? {
        core.withLock { $0.machine.endError(for: owner) }
    }

    /// Whether the sign-in state of an owner is over, so that its calls must leave nothing behind.
    func isOver(_ owner: CallOwner) -> Bool {
        core.withLock { $0.machine.isOver(owner) }
    }

    /// The stamp of a token that was given to another client; `nil` if it never was, or too long ago.
    func stamp(ofSigned token: Secret) -> SessionStamp? {
        core.withLock { $0.signed.stamp(of: token) }
    }

    /// The stamp of a token, if it is the current access token.
    func stamp(ofCurrent token: Secret) -> SessionStamp? {
        core.withLock { $0.machine.stamp(of: token) }
    }

    /// The session's access token, even if it has expired or was rejected.
    var currentAccessToken: Secret? {
        core.withLock { $0.machine.session?.record.tokens.accessToken }
    }

    func rememberSigned(_ credential: Credential) {
        core.withLock { $0.signed.remember(credential) }
    }

    /// Whether tokens may be sent to an origin.
    package func mayCarryToken(to origin: Origin) -> Bool {
        guard allowsInsecureHTTP || !origin.isInsecure else { return false }
        return origin == baseURL.origin || trustedOrigins.contains(origin)
    }
}

// MARK: - The end of a session

extension TokenManager {
    /// Calls a closure once when the session of a call ends, or immediately if it already has.
    /// - Returns: A closure that cancels this.
    func onEnd(of owner: CallOwner, _ perform: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = core.withLock { core -> Int? in
            guard core.machine.endError(for: owner) == nil else { return nil }
            let id = core.machine.makeID()
            core.endings.add(id, owner, perform)
            return id
        }
        guard let id else {
            perform()
            return {}
        }
        return { [weak self] in self?.core.withLock { $0.endings.remove(id) } }
    }

    /// Calls a closure once when this sign-in state ends, or immediately if it has ended. The closure removes cookies
    /// and cached responses.
    func onEnd(ofSignInStateOf owner: CallOwner, _ perform: @escaping @Sendable () -> Void) {
        let isOver = core.withLock { core in
            guard !core.machine.isOver(owner) else { return true }
            core.endings.add(core.machine.makeID(), owner, perform, of: .leftovers)
            return false
        }
        if isOver { perform() }
    }

    /// Calls a closure after each departure of a user: a sign-out, or the sign-in of another user. An expiry is no
    /// departure, because the same user may sign in again.
    ///
    /// The closure gets the sessions that have ended for good, and runs before the sign-out or the sign-in returns.
    /// - Returns: A closure that cancels this.
    package func onDeparture(_ perform: @escaping @Sendable (Set<SessionID>) -> Void) -> @Sendable () -> Void {
        let id = core.withLock { core in
            let id = core.machine.makeID()
            core.endings.follow(id, core.machine.lineage, perform)
            return id
        }
        return { [weak self] in self?.core.withLock { $0.endings.remove(id) } }
    }
}

// MARK: - Waiting callers

extension TokenManager {
    /// A caller's request to the machine; takes the caller's ID and the current uptime.
    private typealias MachineRequest =
        @Sendable (inout SessionStateMachine, Int, Duration) -> SessionStateMachine.WaiterReply

    /// Whether the current task is part of a refresh by this manager, so that waiting for it would be a deadlock.
    var isRefreshingHere: Bool { refreshOwner != nil }

    /// The session that is refreshed, if the current task is part of a refresh by this manager.
    private var refreshOwner: CallOwner? { runningRefresher?.owner }

    private var runningRefresher: RunningRefresher? {
        guard let running = Self.refreshing[ObjectIdentifier(self)], !running.isOver.withLock({ $0 }) else {
            return nil
        }
        return running
    }

    /// Sends a request to the machine, and repeats it whenever the machine says so.
    private func resolve(_ ask: @escaping MachineRequest) async -> Result<Credential, SessionError> {
        guard !isRefreshingHere else {
            return .failure(
                .refreshFailed(
                    RefreshError(
                        .refresher,
                        description: "the refresher asked for the token that it is refreshing; send its requests with"
                            + " the client that it is given")))
        }
        var ask = ask
        while true {
            switch await wait(ask) {
            case .token(let credential): return .success(credential)
            case .failure(let error): return .failure(error)
            case .refreshedElsewhere(let session):
                ask = { machine, waiter, now in machine.tokenRequested(for: session, by: waiter, at: now) }
            case .askAgain, .wait: continue
            }
        }
    }

    /// Whether a token that the server rejected for a replay has been replaced, or is being replaced. A store that
    /// other processes share is read first, because the report of their change may not have arrived yet, unless reading
    /// prompts the user.
    func hasSuccessor(of stamp: SessionStamp) async -> Bool {
        if core.withLock({ $0.machine.hasSuccessor(of: stamp) }) { return true }
        guard store.refreshLock != nil, !store.readingPromptsUser, !isRefreshingHere else { return false }
        // A reading under way may have begun before the other process wrote. Wait for it, and start a new one.
        if waitingLookups > 0 { _ = await lookups.run { [self] in await perform(.read) } }
        let reading = await lookups.run { [self] in await perform(.read) }
        if core.withLock({ $0.machine.hasSuccessor(of: stamp) }) { return true }
        // A journal means that another process has sent the refresh token, so the access token may already be replaced.
        guard case .found(let record)? = reading, record.stamp == stamp else { return false }
        return record.unresolvedJournal != nil
    }

    /// Sends an event to the machine and suspends until it replies. A cancelled task returns at once.
    private func wait(_ ask: @escaping MachineRequest) async -> SessionStateMachine.WaiterReply {
        let waiter = core.withLock { $0.machine.makeID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<SessionStateMachine.WaiterReply, Never>) in
                let now = time.uptime
                let reply = transitionCore { core -> SessionStateMachine.WaiterReply in
                    // The cancellation handler runs after the task is marked as cancelled. If the task is not marked
                    // yet, the handler takes the lock later and finds the waiter.
                    guard !Task.isCancelled else { return .failure(.cancelled) }
                    let reply = ask(&core.machine, waiter, now)
                    if reply == .wait { core.waiting[waiter] = continuation }
                    return reply
                }
                if reply == .wait { lendPriority() } else { continuation.resume(returning: reply) }
            }
        } onCancel: {
            let continuation = core.withLock { core -> CheckedContinuation<SessionStateMachine.WaiterReply, Never>? in
                guard core.machine.waiterCancelled(waiter) else { return nil }
                return core.waiting.removeValue(forKey: waiter)
            }
            continuation?.resume(returning: .failure(.cancelled))
        }
    }
}

// MARK: - Events and actions

extension TokenManager {
    /// Sends an event to the machine and starts the resulting actions in order. Waiters are resumed without the lock.
    /// - Returns: The machine's answer.
    @discardableResult
    func transition<Outcome: Sendable>(_ event: (inout SessionStateMachine) -> Outcome) -> Outcome {
        transitionCore { core in event(&core.machine) }
    }

    /// Like ``transition(_:)``, for an event that also concerns the manager's own state.
    @discardableResult
    func transitionCore<Outcome: Sendable>(_ event: (inout Core) -> Outcome) -> Outcome {
        let now = time.uptime
        let (outcome, consequences) = core.withLock { core in
            let outcome = event(&core)
            return (outcome, settle(&core, at: now))
        }
        consequences.perform()
        return outcome
    }

    /// Starts the actions of an event while the lock is held. It is separate from ``transitionCore(_:)`` because
    /// generic code is compiled once per type.
    private func settle(_ core: inout Core, at now: Duration) -> Consequences {
        var consequences = Consequences()
        for action in core.machine.takeActions() {
            switch action {
            case .resume(let waiters, let reply):
                consequences.woken += waiters.compactMap { core.waiting.removeValue(forKey: $0) }.map { ($0, reply) }
            case .emit(let event): consequences.listeners += core.events.send(event)
            default:
                if case .refresh = action { core.announceRefresh(at: Task.currentPriority) }
                if let step = start(action, core.machine) { consequences.unlocked.append(step) }
            }
        }
        core.updateCachedValues()
        if let awaited = core.awaited, !core.machine.needs(awaited.job) {
            core.awaited = nil
            consequences.unlocked.append(awaited.stop)
        }
        consequences.endings = core.endings.takeDue(core.machine)
        if let state = core.machine.visibleState(at: now), state != core.state {
            core.state = state
            consequences.listeners += core.states.send(state)
        }
        return consequences
    }

    /// The work of an event that must be done without the lock.
    private struct Consequences {
        var woken: [(CheckedContinuation<SessionStateMachine.WaiterReply, Never>, SessionStateMachine.WaiterReply)] = []
        var listeners = Wakeups()
        var unlocked: [@Sendable () -> Void] = []
        var endings: [@Sendable () -> Void] = []

        func perform() {
            for step in unlocked { step() }
            listeners.wake()
            for (continuation, reply) in woken { continuation.resume(returning: reply) }
            for perform in endings { perform() }
        }
    }

    /// Starts an action without waiting for it. The lock is held, so that actions start in the order of the events.
    /// - Returns: The work that must be done without the lock, because it calls code that the app may provide.
    private func start(
        _ action: SessionStateMachine.Action, _ machine: borrowing SessionStateMachine
    ) -> (@Sendable () -> Void)? {
        switch action {
        case .store(.read):
            submit(.read)
        case .store(let task):
            submit(task, asked: machine.undecided(task))
        case .retryStore(let wait, let hasWork):
            // Work on the store must not be lost, even if the app has released the manager. The work may be that of
            // several callers, so the task inherits no task-local values.
            let owner = hasWork ? self : nil
            Task.detached(priority: Task.currentPriority) { [weak self, time] in
                guard (try? await time.sleep(until: time.uptime + wait)) != nil else { return }
                (owner ?? self)?.transition { machine in machine.storeRetryDue() }
            }
        case .refresh(let job):
            return { self.startRefresh(job) }
        case .revoke(let tokens, let expiresAt):
            revoke(tokens, expiringAt: expiresAt)
        case .awaitNetwork:
            // The app may provide the monitor, too.
            return {
                self.networkReturn.callOnce { [weak self] in self?.networkReturned() }
            }
        case .probe(let deadline):
            Task.detached(priority: Task.currentPriority) { [weak self, time] in
                guard (try? await time.sleep(until: deadline)) != nil else { return }
                let now = time.uptime
                self?.transition { machine in machine.probeDue(at: now) }
            }
        case .emit, .resume: break
        }
        return nil
    }

    private func networkReturned() {
        transition { machine in machine.networkReturned() }
        core.withLock { $0.networkReturns.send(()) }.wake()
    }

    /// An element whenever the device has a network again, which may have ended a backoff.
    var networkReturns: AsyncStream<Void> {
        core.withLock { core in core.networkReturns.subscribe(keeping: 1) }
    }

    /// Starts a refresh in a detached task, so that the refresher sees no task-local values of the first caller.
    func startRefresh(_ job: SessionStateMachine.RefreshJob) {
        let own = Task.currentPriority
        core.withLock { core in
            let priority = max(core.startingPriority ?? own, own)
            core.startingPriority = nil
            let task = Task.detached(priority: priority) { [previous = core.refresh?.task] in
                await self.performRefresh(job, after: previous)
            }
            core.refresh = RunningRefresh(task: task, priority: priority)
        }
    }

    /// Raises the priority of the refresh in progress and of the store's operations to that of the current task.
    private func lendPriority() {
        let priority = Task.currentPriority
        storePort.escalate(to: priority)
        let running = core.withLock { core -> (refresh: RunningRefresh, response: Task<Void, Never>?)? in
            if let starting = core.startingPriority {
                core.startingPriority = max(starting, priority)
                return nil
            }
            guard let refresh = core.refresh, refresh.priority < priority else { return nil }
            core.refresh?.priority = priority
            return (refresh, core.awaited.flatMap { core.responses[$0.job.id] })
        }
        guard let (refresh, response) = running else { return }
        // Waiting for a task raises its priority.
        refresh.escalateStep?(priority)
        Task.detached(priority: priority) { await refresh.task.value }
        if let response { Task.detached(priority: priority) { await response.value } }
    }

    /// Revokes tokens that are no longer used, unless the server has issued the same tokens for the current session.
    func revoke(_ tokens: Tokens, expiringAt expiresAt: Duration? = nil) {
        revocations.start(
            tokens, expiringAt: expiresAt, unless: { [weak self] in self?.hasInUse(tokens) == true }
        ) { event in self.publish(event) }
    }

    /// Whether tokens are those of the current session.
    package func hasInUse(_ tokens: Tokens) -> Bool {
        core.withLock { core in
            guard let current = core.machine.currentRecord?.tokens else { return false }
            return current.accessToken == tokens.accessToken
                || current.refreshToken != nil && current.refreshToken == tokens.refreshToken
        }
    }

    /// Publishes an event that does not come from the machine.
    private func publish(_ event: SessionEvent) {
        core.withLock { $0.events.send(event) }.wake()
    }
}

// MARK: - A refresh

extension TokenManager {
    /// Runs one refresh, from acquiring the lock to writing the record, in a task that no caller can cancel.
    /// - Parameter previous: The previous refresh, which holds the lock until its result is written. A second `acquire`
    ///   in this process could take the lock away from it when the lease ends.
    private func performRefresh(_ first: SessionStateMachine.RefreshJob, after previous: Task<Void, Never>?) async {
        var next: SessionStateMachine.RefreshJob? = first
        var rounds = 0
        while let job = next {
            rounds += 1
            let lock: (any HeldStoreLock)?
            do throws(StorageError) {
                try await waitFor(previous)
                lock = try await acquireLock(for: job)
            } catch {
                if core.withLock({ $0.machine.needs(job) }) { publish(.storeLockFailed(error)) }
                lockFailed(error, for: job)
                // The next refresh waits for this task. So this task ends no earlier than the previous one.
                await previous?.value
                return
            }
            // The lock was lost and cannot be acquired again: another process may be refreshing the record that would
            // be deleted. A lock that has never worked must not keep a session from ending.
            if rounds > 1, lock == nil, store.refreshLock != nil, isConfirmingExpiry(of: job) {
                return lockFailed(StorageError(.unreachable, "the store's lock could not be acquired"), for: job)
            }
            next = await runRound(of: job, holding: lock)
            // A process that keeps losing its lock is suspended most of the time.
            if rounds > Self.maximumRounds, let job = next {
                next = nil
                lockFailed(StorageError(.unreachable, "the store's lock was lost again and again"), for: job)
            }
            lock?.release()
        }
    }

    /// Sends a refresh, or confirms that the session has expired, and waits until the result is written.
    /// - Returns: The job to run next; `nil` if the refresh is over.
    private func runRound(
        of job: SessionStateMachine.RefreshJob, holding lock: (any HeldStoreLock)?
    ) async -> SessionStateMachine.RefreshJob? {
        core.withLock { $0.refreshLock = lock }
        var next: SessionStateMachine.RefreshJob?
        if isConfirmingExpiry(of: job) {
            submit(.confirmExpiry)
        } else {
            next = await refreshOnce(job, holding: lock)
        }
        // Write the result while holding the lock: the next process that acquires it must find the new record.
        await flushStore()
        // The next process must not find the record of a session that has ended since, either.
        if core.withLock({ $0.machine.needs(.end) }) { await flushStore() }
        core.withLock { $0.refreshLock = nil }
        return isConfirmingExpiry(of: job) ? job : next
    }

    private func isConfirmingExpiry(of job: SessionStateMachine.RefreshJob) -> Bool {
        core.withLock { $0.machine.isConfirmingExpiry(of: job) }
    }

    /// The number of times one refresh acquires the lock: for itself, for its replay, and after it has lost the lock.
    private static let maximumRounds = 4

    /// Prepares and sends a refresh.
    /// - Returns: The job to run next; `nil` if the refresh is over.
    private func refreshOnce(
        _ job: SessionStateMachine.RefreshJob, holding lock: (any HeldStoreLock)?
    ) async -> SessionStateMachine.RefreshJob? {
        switch await prepare(job, holding: lock) {
        case .startOver:
            return job
        case .stop:
            // The journal may be written late. Hold the lock until it is removed again.
            await flushStore()
            return nil
        case .send:
            return await send(job)
        }
    }

    /// Sends a refresh and handles the response. If the session ends or has newer tokens first, the next refresh must
    /// not wait for that: a token endpoint may hang for longer than a caller has time.
    /// - Returns: The job to run next; `nil` if the refresh is over.
    private func send(_ job: SessionStateMachine.RefreshJob) async -> SessionStateMachine.RefreshJob? {
        let race = Race<SessionStateMachine.RefreshJob?>()
        let response = core.withLock { core in
            let response = Task {
                let sentAt = self.time.uptime
                let next = self.finishRefresh(job, await self.sendRefresh(job, at: sentAt), sentAt: sentAt)
                // Before the next round, whose response takes this place.
                self.core.withLock { $0.responses[job.id] = nil }
                race.finish(.success(next))
            }
            core.responses[job.id] = response
            if core.machine.needs(job) { core.awaited = (job, { race.finish(.failure(CancellationError())) }) }
            return response
        }
        if case .success(let next) = await withCheckedContinuation({ race.wait($0) }) { return next }
        await flushStore()
        // Further sign-ins and sign-outs may have been added since.
        for _ in 0..<8 where core.withLock({ $0.machine.hasWorkForHealthyStore }) { await flushStore() }
        // As long as the store may contain the record, another process may send the same token.
        if hasPendingWork { await response.value }
        return nil
    }

    private func lockFailed(_ error: StorageError, for job: SessionStateMachine.RefreshJob) {
        guard isConfirmingExpiry(of: job) else {
            return report(StorePort.Answer(error), to: .prepare(job))
        }
        let moment = moment
        transition { machine in machine.confirmationFailed(job, RefreshError(error), at: moment) }
    }

    private func waitFor(_ previous: Task<Void, Never>?) async throws(StorageError) {
        guard store.refreshLock != nil, let previous else { return }
        guard case .failure = await storeLimits.run(within: policy.storeTimeout, { await previous.value }) else {
            return
        }
        throw StorageError(.unreachable, "the store has not written the result of the previous refresh yet")
    }

    /// Reads the store again and writes the journal, while holding the lock.
    private func prepare(
        _ job: SessionStateMachine.RefreshJob, holding lock: (any HeldStoreLock)?
    ) async -> SessionStateMachine.Preparation {
        await perform(.prepare(job))
        let preparation = core.withLock { $0.machine.preparation(of: job) }
        guard preparation == .send, let lock else { return preparation }
        // This process may have been suspended while it wrote, so another one may have taken the lock away.
        let check = await storeLimits.run(within: policy.storeTimeout) { await lock.isStillHeld() }
        let isHeld = (try? check.get()) ?? false
        return transition { machine in
            machine.lockChecked(job, isHeld: isHeld)
            return machine.preparation(of: job)
        }
    }

    /// - Returns: The lock; `nil` if the store has none or it failed, in which case the refresh continues without it.
    /// - Throws: An error if the lock is not acquired in time, if its file cannot be opened because the device is
    ///   locked or because too many files are open, or if the refresh is no longer needed. Another process may hold the
    ///   lock, so the refresh must not continue.
    private func acquireLock(for job: SessionStateMachine.RefreshJob) async throws(StorageError) -> (any HeldStoreLock)?
    {
        guard let lock = store.refreshLock else { return nil }
        let race = Race<Result<(any HeldStoreLock)?, StorageError>>()
        let acquiring = core.withLock { core -> Task<Result<(any HeldStoreLock)?, StorageError>, Never>? in
            guard core.machine.needs(job) else { return nil }
            core.awaited = (job, { race.finish(.failure(CancellationError())) })
            return Task {
                let result = await self.acquire(lock)
                race.finish(.success(result))
                return result
            }
        }
        guard let acquiring else { throw StorageError(.unreachable, "the session has ended") }
        defer {
            core.withLock { core in
                if core.awaited?.job.id == job.id { core.awaited = nil }
            }
        }
        if case .success(let result) = await withCheckedContinuation({ race.wait($0) }) { return try result.get() }
        // The lock may still arrive.
        Task { if case .success(let held?) = await acquiring.value { held.release() } }
        throw StorageError(.unreachable, "the session has ended")
    }

    private func acquire(_ lock: any StoreLock) async -> Result<(any HeldStoreLock)?, StorageError> {
        // Long enough for the lease of a suspended process to end, and for one more process in front of this one.
        let limit = policy.lockLease * 2 + policy.storeTimeout
        let result = await deliver(within: limit, by: storeLimits) { [policy] in
            try await lock.acquire(lease: policy.lockLease)
        } late: { held in
            held.release()
        }
        switch result {
        case .success(let held): return .success(held)
        case .failure(let error as TimeLimitError):
            return .failure(
                StorageError(
                    .unreachable, "the store's lock could not be acquired within \(error.limit.inSeconds.shortText) s"))
        case .failure(let error):
            let error = StorageError(wrapping: error)
            // Another process may hold the lock, and be using the refresh token.
            if error.kind == .locked || error.isOutOfResources { return .failure(error) }
            publish(.storeLockFailed(error))
            return .success(nil)
        }
    }

    /// Runs the refresher within its time limit.
    private func sendRefresh(
        _ job: SessionStateMachine.RefreshJob, at sentAt: Duration
    ) async -> Result<Tokens, any Error> {
        guard let owner = core.withLock({ $0.machine.owner(of: job) }) else { return .failure(CancellationError()) }
        let running = RunningRefresher(of: owner)
        let refreshing = Self.refreshing.merging([ObjectIdentifier(self): running]) { $1 }
        return await Self.$refreshing.withValue(refreshing) {
            await deliver(within: policy.attemptTimeout, by: limits, graceAfterSleep: TimeLimits.wakeGrace) {
                [refresher, tokenEndpoint] in
                // Do not send if the tokens of an earlier attempt have arrived late.
                guard self.core.withLock({ $0.machine.isSending(job) }) else { throw CancellationError() }
                defer { running.isOver.withLock { $0 = true } }
                return try await refresher.refresh(job.record.tokens, over: tokenEndpoint)
            } late: { tokens in
                _ = self.finishRefresh(job, .success(tokens), sentAt: sentAt, isLate: true)
            }
        }
    }

    /// - Parameters:
    ///   - sentAt: The uptime at which the refresher was called.
    ///   - isLate: Whether the refresh no longer waits for this result. It may wait for that of a replay.
    private func finishRefresh(
        _ job: SessionStateMachine.RefreshJob, _ result: Result<Tokens, any Error>, sentAt: Duration,
        isLate: Bool = false
    ) -> SessionStateMachine.RefreshJob? {
        let moment = moment
        // Only while the device slept can a response that is in time take longer than the limit. It may have waited
        // unread since it was requested, so its tokens count as received then. A response that is too late was
        // probably sent late.
        let delay = moment.uptime - sentAt
        let received = !isLate && delay > policy.attemptTimeout ? moment.before(delay) : moment
        let outcome = SessionStateMachine.RefreshOutcome(result, wallClock: received.wallClock)
        return transitionCore { core in
            if !isLate, core.awaited?.job.id == job.id { core.awaited = nil }
            return core.machine.refreshFinished(job, outcome, at: moment, tokensReceivedAt: received.uptime)
        }
    }

    /// Runs a step of a refresh whose result must not be lost, even if it arrives at or after the time limit. It runs
    /// at the priority of the most urgent waiter.
    /// - Parameters:
    ///   - limit: The time to wait for the result.
    ///   - limits: Enforces the limit.
    ///   - grace: The additional time to wait if the device slept when the limit expired.
    ///   - late: Called with a result that arrives after the limit.
    private func deliver<Value: Sendable>(
        within limit: Duration, by limits: TimeLimits, graceAfterSleep grace: Duration = .zero,
        _ operation: @escaping @Sendable () async throws -> Value,
        late: @escaping @Sendable (Value) -> Void
    ) async -> Result<Value, any Error> {
        let delivery = Locked(Delivery<Value>.awaited)
        let result = await limits.run(within: limit, graceAfterSleep: grace) {
            let step = self.startStep(operation)
            let value = try await withTaskCancellationHandler {
                try await step.value
            } onCancel: {
                step.cancel()
            }
            let isLate = delivery.withLock { delivery in
                if case .timedOut = delivery { return true }
                delivery = .arrived(value)
                return false
            }
            if isLate { late(value) }
            return value
        }
        guard case .failure(let error) = result, error is TimeLimitError else { return result }
        return delivery.withLock { delivery in
            if case .arrived(let value) = delivery { return .success(value) }
            delivery = .timedOut
            return result
        }
    }

    /// Starts a task whose priority can be raised explicitly. No caller awaits the task around it.
    private func startStep<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        let own = Task.currentPriority
        return core.withLock { core in
            let step = Task(priority: max(core.refresh?.priority ?? own, own), operation: operation)
            core.refresh?.escalateStep = { priority in
                Task.detached(priority: priority) { _ = try? await step.value }
            }
            return step
        }
    }
}

// MARK: - The store

extension TokenManager {
    private typealias StoreTask = SessionStateMachine.StoreTask
    private typealias StoreDecision = SessionStateMachine.StoreDecision

    /// Asks the store and reports its answer to the machine. It never blocks, so it may be called with the lock held.
    /// - Parameters:
    ///   - asked: The decision to report if the time limit expires before the task's turn: by then there may be another
    ///     session. If `nil`, it is made at that time.
    ///   - done: Called afterwards with the content that the store had, unless the task was no longer needed.
    private func submit(
        _ task: StoreTask, asked: StoreDecision? = nil, done: @escaping @Sendable (StoreReading) -> Void = { _ in }
    ) {
        let last = Locked<StoreDecision?>(nil)
        storePort.submit { isLate in
            let undecided = self.core.withLock { core in
                if task == .read { core.hasQueuedRead = false }
                return core.machine.needs(task, isLate: isLate) ? core.machine.undecided(task) : nil
            }
            guard let undecided else { return nil }
            // Watch before an update too: an app may sign in before anything reads the store.
            self.watch()
            if task == .read {
                last.withLock { $0 = undecided }
                return .read
            }
            return .update { reading in
                let decision = self.decide(task, over: reading)
                last.withLock { $0 = decision }
                return decision.update
            }
        } answer: { answer in
            self.report(answer, to: task, last.withLock { $0 } ?? asked)
            done(answer.reading)
        } late: { answer in
            guard let decision = last.withLock({ $0 }) else { return }
            let snapshot = self.snapshot(of: answer.content)
            self.transition { machine in machine.storeAnsweredLate(task, decision, snapshot) }
        }
    }

    /// Asks the store, waits until the machine has the answer, and returns the content that the store had. The wait
    /// ends with the store's time limit at the latest. Call it only for a task that is certain to be needed.
    @discardableResult
    func perform(_ task: SessionStateMachine.StoreTask) async -> StoreReading {
        await withCheckedContinuation { continuation in
            submit(task) { continuation.resume(returning: $0) }
        }
    }

    private func report(_ answer: StorePort.Answer, to task: StoreTask, _ decision: StoreDecision? = nil) {
        let (snapshot, moment) = (snapshot(of: answer.reading), moment)
        transition { machine in
            let decision = decision ?? machine.undecided(task)
            machine.storeAnswered(
                task, .init(decision: decision, snapshot: snapshot, failure: answer.failure), at: moment)
        }
    }

    /// Returns when the store has finished all operations requested so far.
    func flushStore() async {
        await storePort.flush()
    }

    /// The present moment: the clocks and a random number.
    private var moment: SessionStateMachine.Moment {
        SessionStateMachine.Moment(uptime: time.uptime, wallClock: time.wallClock, jitter: random(in: 0...1))
    }

    /// The machine's decision about the record. It is made within the store's transaction: no other process can change
    /// the record, and the thread may block to check the lock between processes.
    private func decide(_ task: StoreTask, over reading: StoreReading) -> StoreDecision {
        let lock = core.withLock { $0.refreshLock }
        // A refresh whose lock cannot be acquired continues without one.
        let hasLostLock = lock.map { !$0.isHeld } ?? (store.refreshLock != nil && task.needsLock)
        let now = time.wallClock
        return core.withLock { $0.machine.decide(task, over: reading, hasLostLock: hasLostLock, at: now) }
    }

    /// A record with the deadlines of its token, estimated from the wall clock: the uptime at which another process or
    /// an earlier launch received the token is unknown.
    private func snapshot(of reading: StoreReading) -> SessionStateMachine.StoreSnapshot {
        guard case .found(let record) = reading, let lifetime = record.lifetime, TokenLifetime.isPlausible(lifetime),
            let left = record.estimatedExpiry.flatMap({ Duration(untrusted: $0.timeIntervalSince(time.wallClock)) })
        else { return SessionStateMachine.StoreSnapshot(reading: reading, deadlines: nil) }
        let remaining = min(max(left, .zero), lifetime)
        return SessionStateMachine.StoreSnapshot(
            reading: reading,
            deadlines: TokenDeadlines(
                obtainedAt: time.uptime - (lifetime - remaining), remaining: lifetime, lifetime: lifetime,
                policy: policy, jitter: random(in: 0...1)))
    }

    /// Starts watching the store for changes by other processes, once, unless each reading would prompt the user.
    private func watch() {
        guard !store.readingPromptsUser else { return }
        // Only the store port calls this, one operation at a time. Do not hold the lock: the app may provide the store.
        guard core.withLock({ $0.watch == nil }), let changes = store.changes() else { return }
        (store as? any FileWatching)?.watchedFile?.onFailure { [weak self] failure in
            self?.publish(.storeWatchFailed(failure))
        }
        // Detached, because it outlives the caller whose reading starts it.
        let watch = Task.detached { [weak self] in
            for await _ in changes {
                guard let self else { return }
                // A reading that has not begun covers all changes so far.
                let isFirst = self.core.withLock { core in
                    defer { core.hasQueuedRead = true }
                    return !core.hasQueuedRead
                }
                if isFirst { self.submit(.read) }
            }
        }
        core.withLock { $0.watch = watch }
    }
}

// MARK: - Task-local values

/// The engine's own task-local values of the current task. Sign-ins that several callers share get those of the caller
/// that starts them, and none of the app's: their calls must not wait for a sign-in or a refresh that waits for them.
struct SessionContext: Sendable {
    private let refreshing = TokenManager.refreshing
    private let unattended = UnattendedSignIn.current

    /// Runs work with these values.
    func run<Outcome: Sendable>(_ work: @Sendable () async -> Outcome) async -> Outcome {
        await TokenManager.$refreshing.withValue(refreshing) {
            await UnattendedSignIn.$current.withValue(unattended) { await work() }
        }
    }
}

extension TokenManager {
    /// The result of a query, for tests.
    func inspect<Value>(_ query: (Core) -> Value) -> Value {
        core.withLock { query($0) }
    }

    /// The number of callers that wait for a reading of the store because their replays were rejected.
    var waitingLookups: Int { lookups.waiting }
}

extension TokenManager.Core {
    /// Prepares for the task of a refresh, which is about to start. Until it has, waiting callers raise this priority.
    mutating func announceRefresh(at priority: TaskPriority) {
        startingPriority = priority
    }

    /// Updates the cached values after a change of the machine.
    fileprivate mutating func updateCachedValues() {
        cached = machine.cachedCredential
        let former = owner
        owner = machine.callOwner
        if former.signInState == .unknown, owner.signInState != .unknown, owner.epoch == former.epoch {
            storedOwner = owner
        }
    }
}

/// Whether the result or the time limit came first.
private enum Delivery<Value: Sendable> {
    case awaited
    case arrived(Value)
    case timedOut
}
