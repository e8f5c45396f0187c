public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Owns the session: hands out valid tokens, renews them once for all who need them, and tells the app what it must
/// act on.
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
/// All decisions are made by a value-type state machine; this class holds its lock, performs what it asks for and feeds
/// back what comes of it.
public final class TokenManager: Sendable {
    /// Where the API lives; its origin is the one that tokens go to.
    public let baseURL: BaseURL
    /// How tokens are put on requests.
    public let scheme: AuthenticationScheme
    /// Which answers mean that a token is not accepted any more.
    public let rejection: TokenRejection

    let transport: any Transport
    let time: any TimeSource
    let allowsInsecureHTTP: Bool
    let refresher: any TokenRefresher
    private let trustedOrigins: Set<Origin>
    let store: any TokenStore
    let revoker: (any TokenRevoker)?
    let policy: SessionPolicy
    let random: RandomSource
    let lane: TokenLane
    let limits: TimeLimits
    let storeLimits: TimeLimits
    let storeLane = StoreLane()
    let guests: GuestFlights
    let core: Locked<Core>
    /// The managers whose refresh the task is part of, for refreshers that send through a client of their own manager.
    @TaskLocal static var refreshing: Set<ObjectIdentifier> = []

    struct Core {
        var machine: SessionStateMachine
        /// A copy of what the fast path needs, so that it reads two words and not a state.
        var hot: (credential: Credential, until: Duration?)?
        /// For requests that other clients send.
        var signed = SignedTokens()
        var waiting: [Int: CheckedContinuation<SessionStateMachine.Answer, Never>] = [:]
        /// Waiters whose cancellation came before they had begun to wait.
        var cancelledEarly: Set<Int> = []
        var state = SessionState.loading
        var states = Broadcast<SessionState>()
        var events = Broadcast<SessionEvent>()
        /// Held while what a refresh has given is written.
        var refreshLock: (any HeldStoreLock)?
        /// Looks at the record when others change it.
        var watch: Task<Void, Never>?
        /// Another look is about to be made, because the last one gave nothing.
        var awaitsLook = false
    }

    /// Owns one session.
    /// - Parameters:
    ///   - baseURL: Where the API lives.
    ///   - store: Keeps the session at rest.
    ///   - refresher: Renews tokens in the server's dialect.
    ///   - revoker: Tells the server when a user signs out; nobody is told if `nil`.
    ///   - scheme: How tokens are put on requests.
    ///   - rejection: Which answers mean that a token is not accepted any more.
    ///   - policy: When tokens are renewed, how often, and how failures are spaced.
    ///   - trustedOrigins: Further origins that tokens may go to.
    ///   - allowsInsecureHTTP: Whether tokens may go over plain `http` to other machines than this one.
    ///   - headers: Header fields for the token endpoint, such as an API key.
    ///   - transport: Sends requests. The token endpoint gets a lane of its own from it.
    ///   - time: The clocks.
    ///   - random: Where jitter comes from.
    public init(
        baseURL: BaseURL,
        store: any TokenStore,
        refresher: any TokenRefresher,
        revoker: (any TokenRevoker)? = nil,
        scheme: AuthenticationScheme = .bearer,
        rejection: TokenRejection = .unauthorized,
        policy: SessionPolicy = SessionPolicy(),
        trustedOrigins: Set<Origin> = [],
        allowsInsecureHTTP: Bool = false,
        headers: HTTPFields = [:],
        transport: any Transport = .platformDefault,
        time: any TimeSource = .system,
        random: RandomSource = .system
    ) {
        self.baseURL = baseURL
        self.store = store
        self.refresher = refresher
        self.revoker = revoker
        self.scheme = scheme
        self.rejection = rejection
        self.policy = policy
        self.trustedOrigins = trustedOrigins
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.transport = transport
        self.time = time
        self.random = random
        self.lane = TokenLane(
            baseURL: baseURL, transport: transport.makeLane(), time: time, allowsInsecureHTTP: allowsInsecureHTTP,
            headers: headers)
        self.limits = TimeLimits(time: time)
        self.storeLimits = TimeLimits(time: time, sleepsOn: false)
        self.guests = GuestFlights(time: time)
        self.core = Locked(Core(machine: SessionStateMachine(policy: policy, sharesStore: store.lock != nil)))
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
    /// The state as it is now.
    public var state: SessionState {
        core.withLock { $0.state }
    }

    /// The state as it is now, then each further one. A listener that does not keep up misses all but the newest 16.
    ///
    /// Listening reads the store, if nothing has yet; it renews no token, which ``restore()`` does.
    public var states: AsyncStream<SessionState> {
        transition { machine in _ = machine.load(for: machine.makeID()) }
        return core.withLock { core in core.states.add(first: [core.state], keeping: 16) }
    }

    /// Every step from now on, for logs, metrics and tests.
    public var events: AsyncStream<SessionEvent> {
        core.withLock { core in core.events.add(keeping: 1024) }
    }

    /// Reads the store and renews the token if it has expired: call it when the app starts.
    ///
    /// Calls that need a token do so by themselves; this tells beforehand where to route.
    /// - Returns: ``SessionState/signedIn(_:)`` (stale where it could not be renewed for now),
    ///   ``SessionState/signedOut``, ``SessionState/expired(_:)``, or ``SessionState/unavailable(_:)``.
    @discardableResult
    public func restore() async -> SessionState {
        _ = await credential()
        return state
    }

    /// Starts a session with the tokens that a server gave, in place of any other one.
    ///
    /// Calls of the session before fail with ``NetworkError/sessionChanged(_:)`` rather than go out under the new one.
    /// - Parameters:
    ///   - bundle: The tokens.
    ///   - account: Who signed in, for the app's own use.
    ///   - serverDate: The server's clock when it answered, against which its dates are meant.
    /// - Returns: The session, once it has been stored. Where the store failed it says so
    ///   (``SignedInSession/isSaved``), and writing it is tried again.
    /// - Throws: ``SessionError`` where somebody else signed in or out meanwhile, or the task was cancelled.
    @discardableResult
    public func signIn(
        with bundle: TokenBundle, account: SessionAccount = SessionAccount(), serverDate: Date? = nil
    ) async throws(SessionError) -> SignedInSession {
        try await signIn(with: bundle, account: account, serverDate: serverDate, since: nil)
    }

    /// The state once the store has been read. No token is renewed for it.
    package var loadedState: SessionState {
        get async {
            _ = await wait { machine, waiter, _ in machine.load(for: waiter) }
            return state
        }
    }

    /// The count of sign-ins and sign-outs so far.
    var epoch: Int { core.withLock { $0.machine.epoch } }

    @discardableResult
    func signIn(
        with bundle: TokenBundle, account: SessionAccount, serverDate: Date?, since epoch: Int?
    ) async throws(SessionError) -> SignedInSession {
        let known = TokenLifetime(of: bundle, serverDate: serverDate, wallClock: time.wallClock)
        let record = StoredSession(
            id: SessionID(), bundle: bundle,
            freshUntil: known.map { time.wallClock.addingTimeInterval($0.remaining.inSeconds) },
            lifetime: known?.lifetime, account: account)
        let life = known.map { known in
            TokenLife(
                obtainedAt: time.uptime, lasting: known.remaining, lifetime: known.lifetime, policy: policy,
                jitter: random(in: 0...1))
        }
        let answer = await wait { machine, waiter, _ in
            machine.signedIn(record, life: life, since: epoch, by: waiter)
        }
        if case .failure(let error) = answer { throw error }
        guard case .signedIn(let session) = state, session.id == record.id else { throw .sessionChanged }
        return session
    }

    /// Ends the session: here at once, whatever the network; then at the server, as well as it can be done.
    ///
    /// What is under way for the session cannot bring it back. Returns once the store has deleted its record or failed
    /// to (``SessionEvent/storeFailed(_:_:)``; it is then tried again). Revoking goes on by itself
    /// (``SessionEvent/revoked``).
    public func signOut() async {
        // What the store has must be known, or the server could not be told which tokens to forget.
        _ = await loadedState
        transition { machine in machine.signedOut() }
        // A store that never answers has been reported by then, and is not waited for.
        _ = await storeLimits.run(within: policy.storeTimeout * 2) { [storeLane] in await storeLane.flush() }
    }

    /// A token that is valid now, for what does not go through a client: WebSocket, server-sent events, gRPC.
    ///
    /// Whoever asks while it is being renewed shares that refresh. A request that is signed with it by hand can be given to
    /// `recover(from:body:to:)` like any that `sign(_:_:)` has signed.
    /// - Throws: ``SessionError`` where there is none.
    public func validToken() async throws(SessionError) -> Secret {
        let credential = try await credential().get()
        core.withLock { $0.signed.remember(credential) }
        return credential.accessToken
    }

    /// Renews the token whatever the clock says, sharing a refresh that is under way.
    /// - Throws: ``SessionError`` where there is no new one.
    public func refresh() async throws(SessionError) {
        let result = await resolve { machine, waiter, now in machine.refreshForced(by: waiter, at: now) }
        if case .failure(let error) = result { throw error }
    }
}

// MARK: - For clients

extension TokenManager {
    /// A token without any waiting, where it is fresh beyond doubt.
    func freshCredential() -> Credential? {
        let now = time.uptime
        return core.withLock { core in
            guard let hot = core.hot else { return nil }
            guard let until = hot.until, until <= now else { return hot.credential }
            return nil
        }
    }

    /// A token, after all the waiting that it takes.
    func credential() async -> Result<Credential, SessionError> {
        if let credential = freshCredential() { return .success(credential) }
        return await resolve { machine, waiter, now in machine.tokenAsked(by: waiter, at: now) }
    }

    /// A token that lasts for a while, as far as a new one would; the one there is where it cannot be renewed for now.
    func credential(lasting need: Duration) async -> Result<Credential, SessionError> {
        let answer = await resolve { machine, waiter, now in
            machine.tokenAsked(lasting: need, by: waiter, at: now)
        }
        guard case .failure(.refreshFailed) = answer else { return answer }
        return await credential()
    }

    /// A token in place of one that the server refused.
    func credential(inPlaceOf stamp: SessionStamp) async -> Result<Credential, SessionError> {
        await resolve { machine, waiter, now in machine.tokenRejected(stamp, reportedBy: waiter, at: now) }
    }

    /// The server refused a request that was signed with this token: whoever asks from now on waits for the next one.
    func refused(_ stamp: SessionStamp) {
        let now = time.uptime
        transition { machine in machine.tokenRefused(stamp, at: now) }
    }

    /// Whether a request signed by this rotation may still go out.
    func isGood(_ stamp: SessionStamp) -> Bool {
        core.withLock { $0.machine.isGood(stamp) }
    }

    /// Whether the session is still the one that is signed in.
    func isCurrent(_ session: SessionID) -> Bool {
        core.withLock { $0.machine.currentRecord?.id == session }
    }

    /// Whether tokens may go to the place.
    func mayCarryToken(to origin: Origin) -> Bool {
        guard allowsInsecureHTTP || !origin.isInsecure else { return false }
        return origin == baseURL.origin || trustedOrigins.contains(origin)
    }
}

// MARK: - Waiting

extension TokenManager {
    private typealias Ask = @Sendable (inout SessionStateMachine, Int, Duration) -> SessionStateMachine.Answer

    /// Whether this task is part of a refresh of these tokens, and so must not wait for one.
    var isRefreshingHere: Bool { Self.refreshing.contains(ObjectIdentifier(self)) }

    private func resolve(_ ask: @escaping Ask) async -> Result<Credential, SessionError> {
        guard !isRefreshingHere else {
            return .failure(
                .refreshFailed(
                    RefreshFailure(
                        .refresher,
                        description: "the refresher asked for the very token that it is to renew; let it use its lane"))
            )
        }
        var ask = ask
        while true {
            switch await wait(ask) {
            case .token(let credential): return .success(credential)
            case .failure(let error): return .failure(error)
            case .renewed(let session):
                ask = { machine, waiter, now in machine.tokenAsked(for: session, by: waiter, at: now) }
            case .askAgain, .wait: continue
            }
        }
    }

    /// Asks the machine and waits where it says so; a cancelled task stops waiting at once.
    private func wait(_ ask: @escaping Ask) async -> SessionStateMachine.Answer {
        let waiter = core.withLock { $0.machine.makeID() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<SessionStateMachine.Answer, Never>) in
                let now = time.uptime
                transition { core -> SessionStateMachine.Answer in
                    guard !core.cancelledEarly.contains(waiter) else { return .failure(.cancelled) }
                    let answer = ask(&core.machine, waiter, now)
                    if answer == .wait { core.waiting[waiter] = continuation }
                    return answer
                } then: { answer in
                    if answer != .wait { continuation.resume(returning: answer) }
                }
            }
        } onCancel: {
            let continuation = core.withLock { core -> CheckedContinuation<SessionStateMachine.Answer, Never>? in
                core.cancelledEarly.insert(waiter)
                guard core.machine.waiterCancelled(waiter) else { return nil }
                return core.waiting.removeValue(forKey: waiter)
            }
            continuation?.resume(returning: .failure(.cancelled))
        }
        if Task.isCancelled { core.withLock { _ = $0.cancelledEarly.remove(waiter) } }
        return answer
    }
}
