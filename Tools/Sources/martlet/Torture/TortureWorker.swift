internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// One of the processes that share a record: an app that makes its calls and knows nothing of the others.
struct TortureWorker: Sendable {
    private let tokens: TokenManager
    private let client: NetworkClient
    private let notes = NIOLockedValueBox(CallTally())
    private let lastEvents = NIOLockedValueBox<[String]>([])
    private let brief: WorkerBrief
    private let file: FileTokenStore

    init(_ brief: WorkerBrief) {
        self.brief = brief
        var policy = SessionPolicy()
        policy.lockLease = brief.lease
        policy.rotationGrace = brief.grace
        // Every round needs a refresh, and the next round does not wait for a cool-down.
        policy.refreshBudget = 100_000
        policy.firstCoolDown = .milliseconds(20)
        policy.maximumCoolDown = .milliseconds(100)
        policy.firstSaveRetry = .milliseconds(50)
        file = FileTokenStore(path: brief.record)
        let name: HTTPFields = [.userAgent: brief.name.userAgent]
        tokens = TokenManager(
            baseURL: BaseURL(brief.baseURL), store: brief.hidesLock ? LocklessStore(base: file) : file,
            refresher: .json(path: "/auth/refresh"), revoker: .json(path: "/auth/logout"), policy: policy,
            headers: name)
        var config = NetworkConfig()
        config.headers = name
        config.envelope = .standard
        config.retry = .never
        client = NetworkClient(tokens: tokens, config: config)
    }

    /// Reads the store and notes what happens from now on.
    func begin() async {
        let events = tokens.events
        Task { [notes, lastEvents] in
            for await event in events {
                notes.withLockedValue { $0.note(event) }
                lastEvents.withLockedValue { $0 = $0.suffix(15) + ["\(event)"] }
            }
        }
        await tokens.restore()
    }

    /// Does what it is told, however long it takes; but says so before it is taken to hang.
    func follow(_ order: WorkerOrder) async -> WorkerReport {
        let alarm = Task {
            try await Task.sleep(for: brief.patience * 0.9)
            let events = lastEvents.withLockedValue { $0 }.joined(separator: "\n    ")
            let text = "worker \(brief.name) still follows \(order); \(tokens.state); its last events:\n    \(events)\n"
            try FileHandle.standardError.write(contentsOf: Data(text.utf8))
        }
        defer { alarm.cancel() }
        return await report(of: order)
    }

    private func report(of order: WorkerOrder) async -> WorkerReport {
        switch order {
        case .signIn(let email, let password):
            do {
                let credentials = AccountEndpoint.Credentials(email: email, password: password)
                let _: Account = try await client.signIn(AccountEndpoint.login(credentials))
            } catch {
                return .failed("\(error)")
            }
            guard case .signedIn(let session) = tokens.state else { return .failed("signed in, and out again") }
            return .signedIn(session: session.id.rawValue)
        case .call(let session, let count, let pause, let deed):
            await waitForSession(session)
            try? await Task.sleep(for: pause)
            return .called(await call(count, alongside: deed))
        case .leave(let session):
            return .left(await waitForState { $0 != .signedIn(session: session) })
        }
    }

    private func call(_ count: Int, alongside deed: WorkerOrder.Deed?) async -> CallTally {
        let results = await withTaskGroup { group in
            for _ in 0..<count {
                group.addTask { [client] () -> String? in
                    do throws(NetworkError) {
                        _ = try await client.send(Profile())
                        return nil
                    } catch {
                        return error.kind
                    }
                }
            }
            switch deed {
            case .refresh: try? await tokens.refresh()
            case .signOut: await tokens.signOut()
            case nil: break
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var tally = notes.withLockedValue { notes in
            defer { notes = CallTally() }
            return notes
        }
        for result in results {
            if let result { tally.failures[result, default: 0] += 1 } else { tally.successes += 1 }
        }
        tally.state = WorkerState(tokens.state)
        return tally
    }

    /// Waits until the session is signed in here, for as long as the record has it: a worker that begins late may find that
    /// it is over already.
    private func waitForSession(_ session: String) async {
        await withTaskGroup { group in
            group.addTask { _ = await waitForState { $0 == .signedIn(session: session) } }
            group.addTask { [file] in
                while !Task.isCancelled, case .found(let record) = await file.read(), record.id.rawValue == session {
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

/// The record without what keeps processes from renewing its tokens at the same time.
private struct LocklessStore: TokenStore {
    let base: FileTokenStore

    func read() async -> StoreReading { await base.read() }
    func write(_ session: StoredSession) async throws { try await base.write(session) }
    func delete() async throws { try await base.delete() }
    func changes() -> AsyncStream<Void>? { base.changes() }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await base.update(decide)
    }
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
            case .unavailable(let failure): .other("unavailable: \(failure)")
            }
    }
}

extension CallTally {
    fileprivate mutating func note(_ event: SessionEvent) {
        switch event {
        case .adopted(let stamp):
            adoptions += 1
            (session, rotation) = (stamp.session.rawValue, stamp.rotation)
        case .refreshSucceeded(let stamp):
            (session, rotation) = (stamp.session.rawValue, stamp.rotation)
        case .refreshReplayed: replays += 1
        case .storeFailed(let operation, let failure): trouble["\(operation): \(failure)", default: 0] += 1
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
        case .refreshFailed(_, let failure, _): "refresh failed: \(failure.kind)"
        case .api(_, let error): "refused with \(error.answer.status)"
        case .unauthorized(_, let answer): "refused with \(answer.status)"
        default: "\(self)"
        }
    }
}

/// Failures of calls that tell of the end of a session.
enum CallFailure {
    static let sessionExpired = "session expired"
    static let signInRequired = "sign-in required"
    static let sessionChanged = "session changed"
    static let all: Set<String> = [sessionExpired, signInRequired, sessionChanged]
}
