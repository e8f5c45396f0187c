internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// One of the processes that share a record: an app that makes calls and does not know of the other processes.
struct TortureWorker: Sendable {
    private let tokens: TokenManager
    private let client: NetworkClient
    private let tally = NIOLockedValueBox(CallTally())
    private let lastEvents = NIOLockedValueBox<[String]>([])
    private let watchFailures = NIOLockedValueBox(0)
    /// The last session that the worker has seen.
    private let seen = NIOLockedValueBox<String?>(nil)
    private let meter = LatenessMeter()
    private let content: SessionContentReader
    private let configuration: WorkerConfiguration
    private let store: AnyTokenStore

    init(_ configuration: WorkerConfiguration) throws {
        self.configuration = configuration
        let conditions = configuration.conditions
        try conditions.watchLimit?.reach()
        var policy = SessionPolicy()
        policy.lockLease = configuration.lease
        policy.rotationGrace = configuration.grace
        // Every round needs a refresh, and must not wait for the backoff of the previous one.
        policy.refreshBudget = 100_000
        policy.firstBackoff = .milliseconds(20)
        policy.maximumBackoff = .milliseconds(100)
        policy.firstSaveRetry = .milliseconds(50)
        store = configuration.store.open(in: configuration.folder)
        let name: HTTPFields = [.userAgent: configuration.name.userAgent]
        let time = conditions.clockOffset == .zero ? nil : WrongClock(offset: conditions.clockOffset)
        tokens = TokenManager(
            baseURL: BaseURL(configuration.baseURL), store: Self.store(store, configuration),
            refresher: .json(path: "/auth/refresh"), revoker: .json(path: "/auth/logout"), policy: policy,
            headers: name, transport: conditions.transport.make(), time: time)
        var config = NetworkConfig()
        config.headers = name
        config.envelope = ResponseEnvelope()
        config.retry = .never
        config.cache = HTTPCache()
        config.cookies = CookieJar()
        config.coalescesIdenticalCalls = true
        config.time = time
        client = NetworkClient(tokens: tokens, config: config)
        content = SessionContentReader(
            client, path: "\(configuration.folder)/file-\(configuration.name.slot)", fault: configuration.fault)
    }

    private static func store(_ store: AnyTokenStore, _ configuration: WorkerConfiguration) -> any TokenStore {
        guard let fault = configuration.fault else { return store }
        return switch fault {
        case .noLock: LocklessStore(base: store)
        case .trustedClock, .silentStore: FaultyStore(base: store, fault: fault, conditions: configuration.conditions)
        case .sharedCache, .sharedCookies, .sharedParts: store
        }
    }

    /// Records the session's events from now on, and restores the stored session.
    func begin() async {
        meter.runOnThread()
        let events = tokens.events
        Task { [tally, lastEvents, watchFailures, seen] in
            for await event in events {
                if let session = event.begun { seen.withLockedValue { $0 = session } }
                tally.withLockedValue { $0.record(event) }
                if case .storeWatchFailed = event { watchFailures.withLockedValue { $0 += 1 } }
                lastEvents.withLockedValue { $0 = $0.suffix(15) + ["\(event)"] }
            }
        }
        await tokens.restore()
    }

    /// Executes an instruction. Shortly before the worker counts as hung, it prints its state to standard error.
    func execute(_ instruction: WorkerInstruction) async -> WorkerReport {
        let watchdog = Task {
            try await Task.sleep(for: configuration.timeout * 0.9)
            let events = lastEvents.withLockedValue { $0 }.joined(separator: "\n    ")
            let text =
                "worker \(configuration.name) still executes \(instruction); state: \(tokens.state);"
                + " last events:\n    \(events)\n"
            try FileHandle.standardError.write(contentsOf: Data(text.utf8))
        }
        defer { watchdog.cancel() }
        return await report(of: instruction)
    }

    private func report(of instruction: WorkerInstruction) async -> WorkerReport {
        _ = meter.take()
        switch instruction {
        case .signIn(let email, let password):
            do {
                let credentials = AccountEndpoint.Credentials(email: email, password: password)
                let _: Account = try await client.signIn(AccountEndpoint.login(credentials))
            } catch {
                return .failed("\(error)")
            }
            guard case .signedIn(let session) = tokens.state else { return .failed("signed out again") }
            return .signedIn(session: session.id.rawValue)
        case .call(let session, let count, let pause, let action):
            await waitForSession(session)
            let missed = await missedRotation()
            try? await Task.sleep(for: pause)
            var tally = await call(count, alongside: action)
            tally.missedRotation = missed
            return .called(tally)
        case .awaitEnd(let session, let makesCall, let isSignOut):
            return .ended(await endReport(of: session, makesCall: makesCall, isSignOut: isSignOut))
        }
    }

    private func endReport(of session: String, makesCall: Bool, isSignOut: Bool) async -> EndReport {
        let start = ContinuousClock.now
        if makesCall { _ = try? await client.send(NumberedProfile(number: 0)) }
        let limit = configuration.timeout / 3
        var state = await waitForState(atMost: limit) { $0 != .signedIn(session: session) }
        var wait = start.duration(to: .now)
        // The worker may not have noticed the session yet, and still show the end of the one before. One that cannot
        // watch the record checks it every five seconds. A session that was lost before the sign-out stays lost.
        if isSignOut, !hasSeen(session) {
            let isBlind = configuration.conditions.watchLimit != nil
            state = await waitForState(atMost: isBlind ? .seconds(6) : limit) { $0 == .signedOut }
            if state == .signedOut { wait = start.duration(to: .now) }
        }
        if state != .signedIn(session: session) { await content.readAfterEnd() }
        return EndReport(
            state: state, hasSeenSession: hasSeen(session), wait: wait,
            watchFailures: watchFailures.withLockedValue { $0 }, content: content.take(), lateness: meter.take())
    }

    private func hasSeen(_ session: String) -> Bool { seen.withLockedValue { $0 } == session }

    private func waitForState(
        atMost limit: Duration, _ isAwaited: @escaping @Sendable (WorkerState) -> Bool
    ) async -> WorkerState {
        await withTaskGroup { group in
            group.addTask { await waitForState(isAwaited) }
            group.addTask {
                try? await Task.sleep(for: limit)
                return WorkerState(tokens.state)
            }
            defer { group.cancelAll() }
            return await group.next() ?? WorkerState(tokens.state)
        }
    }

    private func call(_ count: Int, alongside action: WorkerInstruction.Action?) async -> CallTally {
        let results = await withTaskGroup { group in
            for number in 0..<count {
                group.addTask { () -> String? in
                    do throws(NetworkError) {
                        try await makeCall(number)
                        return nil
                    } catch {
                        return error.kind
                    }
                }
            }
            switch action {
            case .refresh: _ = try? await tokens.refresh()
            case .signOut:
                await tokens.signOut()
                await content.readAfterEnd()
            case nil: break
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var tally = tally.withLockedValue { tally in
            defer { tally = CallTally() }
            return tally
        }
        for result in results {
            if let result { tally.failures[result, default: 0] += 1 } else { tally.successes += 1 }
        }
        tally.state = WorkerState(tokens.state)
        tally.watchFailures = watchFailures.withLockedValue { $0 }
        tally.content = content.take()
        tally.lateness = meter.take()
        return tally
    }

    /// Makes one of the calls of a round. The second and third calls are equal, and the fourth is a download.
    private func makeCall(_ number: Int) async throws(NetworkError) {
        switch number {
        case 1, 2: try await content.read()
        case 3: try await content.download()
        default: _ = try await client.send(NumberedProfile(number: number))
        }
    }

    /// The rotation in the store, if it differs from that of this worker's tokens.
    private func missedRotation() async -> Int? {
        guard case .found(let record) = await store.read() else { return nil }
        return tokens.currentTokens?.refreshToken == record.tokens.refreshToken ? nil : record.stamp.rotation
    }

    /// Waits until this worker is signed in to the session, or until the record contains another session or none.
    private func waitForSession(_ session: String) async {
        await withTaskGroup { group in
            group.addTask { _ = await waitForState { $0 == .signedIn(session: session) } }
            group.addTask { [store] in
                while !Task.isCancelled, case .found(let record) = await store.read(), record.id.rawValue == session {
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForState(_ isAwaited: (WorkerState) -> Bool) async -> WorkerState {
        for await state in tokens.states {
            let state = WorkerState(state)
            if isAwaited(state) { return state }
        }
        return .other("cancelled")
    }
}

/// Requests the signed-in user. Calls with different numbers are not joined.
private struct NumberedProfile: APIRequest {
    typealias Response = User
    let number: Int
    let path: RequestPath = "/me"
    var query: Query { ["call": number] }
    let authentication = AuthenticationRequirement.required
}

extension WorkerState {
    fileprivate init(_ state: SessionState) {
        self =
            switch state {
            case .signedIn(let session): .signedIn(session: session.id.rawValue)
            case .signedOut: .signedOut
            case .expired(.rotationLost): .rotationLost
            case .expired(let reason): .expired("\(reason)")
            case .loading: .other("loading")
            case .unavailable(let failure), .unreadable(let failure): .other("unavailable: \(failure)")
            }
    }
}

extension SessionEvent {
    /// The session that the event announces.
    fileprivate var begun: String? {
        switch self {
        case .restored(let stamp?), .signedIn(let stamp), .adopted(let stamp): stamp.session.rawValue
        default: nil
        }
    }
}

extension CallTally {
    fileprivate mutating func record(_ event: SessionEvent) {
        switch event {
        case .adopted(let stamp):
            adoptions += 1
            (session, rotation) = (stamp.session.rawValue, stamp.rotation)
        case .refreshSucceeded(let stamp):
            (session, rotation) = (stamp.session.rawValue, stamp.rotation)
        case .refreshReplayed: replays += 1
        case .storeReadFailed(let failure), .storeWriteFailed(let failure), .storeDeleteFailed(let failure),
            .storeLockFailed(let failure):
            storeFailures["\(failure)", default: 0] += 1
        default: break
        }
    }
}

extension NetworkError {
    fileprivate var kind: String {
        switch self {
        case .sessionExpired: CallFailure.sessionExpired
        case .signInRequired: CallFailure.signInRequired
        case .sessionChanged: CallFailure.sessionChanged
        case .refreshFailed(_, let failure, _): CallFailure.refresh(failure.kind)
        case .api(_, let error): CallFailure.refused(error.response.status)
        case .unauthorized(_, let response): CallFailure.refused(response.status)
        default: "\(self)"
        }
    }
}
