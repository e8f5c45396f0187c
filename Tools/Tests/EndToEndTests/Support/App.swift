internal import Foundation
internal import Martlet
internal import MartletTesting
internal import ReferenceBackend
internal import Testing

/// An app with its client and its store on disk, and the backend that it uses.
struct App: Sendable {
    let backend: ReferenceBackend
    let setup: Setup
    let wire: Wire
    let traffic: RecordingTransport
    let storePath: String
    let sinks: LogSinks
    let tokens: TokenManager
    let client: NetworkClient

    /// Creates an app, as at the start of its process.
    init(
        _ setup: Setup, on backend: ReferenceBackend, over wire: Wire, storePath: String,
        store: (any TokenStore)? = nil, traffic: RecordingTransport? = nil, sinks: LogSinks = LogSinks(),
        configure: (inout NetworkConfig) -> Void = { _ in }
    ) throws {
        self.backend = backend
        self.setup = setup
        self.wire = wire
        self.storePath = storePath
        self.sinks = sinks
        self.traffic =
            try traffic ?? RecordingTransport(wire.transport(trusting: backend.certificateAuthorityPEM))
        self.tokens = TokenManager(
            baseURL: BaseURL(backend.baseURL), store: store ?? .file(path: storePath),
            refresher: setup.refresher, revoker: setup.revoker, scheme: setup.scheme,
            accessTokenRejection: setup.rejection,
            policy: setup.policy, transport: self.traffic)
        var config = NetworkConfig()
        config.envelope = setup.envelope
        // No retries: a transient failure must be visible to the test.
        config.retry = .never
        config.observers = sinks.observers
        sinks.follow(self.tokens)
        configure(&config)
        self.client = NetworkClient(tokens: self.tokens, config: config)
    }

    /// Runs a test with its own backend and app, and removes their files. Fails if a log contains a token.
    static func run(
        _ setup: Setup, over wire: Wire, backend change: (inout BackendConfiguration) -> Void = { _ in },
        connections: Int = 64, configure: (inout NetworkConfig) -> Void = { _ in },
        _ test: (App) async throws -> Void
    ) async throws {
        var configuration = BackendConfiguration.testing(setup.dialect)
        change(&configuration)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let sinks = LogSinks()
        try await ReferenceBackend.withRunning(configuration) { backend in
            backend.controls.rememberIssuedTokens()
            let traffic = RecordingTransport(
                try wire.transport(connections: connections, trusting: backend.certificateAuthorityPEM))
            do {
                try await test(
                    App(
                        setup, on: backend, over: wire, storePath: folder.appendingPathComponent("session.json").path,
                        traffic: traffic, sinks: sinks, configure: configure))
                await traffic.shutdown()
            } catch {
                await traffic.shutdown()
                throw error
            }
            await sinks.finish()
            #expect(sinks.leaks(of: backend.controls.issuedTokens) == [])
        }
    }

    /// The same app after a restart, with the stored session only.
    func restarted(configure: (inout NetworkConfig) -> Void = { _ in }) throws -> App {
        try App(
            setup, on: backend, over: wire, storePath: storePath, traffic: traffic, sinks: sinks, configure: configure)
    }

    var controls: BackendControls { backend.controls }
    var counters: BackendCounters { backend.controls.counters }

    var stored: StoredSession? {
        get async {
            guard case .found(let record) = await AnyTokenStore.file(path: storePath).read() else { return nil }
            return record
        }
    }
}

extension App {
    /// Creates an account and signs in to it.
    func signUp(email: String = "wren@example.org") async throws {
        try await client.signIn(
            AnyCall.post("/auth/register", .json(["email": email, "password": "correct horse"])), as: NoContent.self)
    }

    /// The stored session without its journal.
    var storedTokens: StoredSession? {
        get async {
            await stored?.withoutRefreshJournal
        }
    }

    /// Makes the stored token look expired for an hour at the next start.
    func expireStoredToken() async throws {
        let record = try #require(await stored).expired(at: Date())
        try await AnyTokenStore.file(path: storePath).write(record)
    }

    /// Makes many authenticated calls at the same time.
    func burst(_ count: Int) async -> [Result<User, NetworkError>] {
        await withTaskGroup(of: Result<User, NetworkError>.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do throws(NetworkError) { return .success(try await client.send(Me())) } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The error of a call that must fail.
    func failure(
        of endpoint: some APIEndpoint, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> NetworkError {
        let error = await #expect(throws: NetworkError.self, sourceLocation: sourceLocation) {
            try await client.data(for: endpoint)
        }
        return try #require(error, sourceLocation: sourceLocation)
    }
}

extension Collection where Element == Result<User, NetworkError> {
    var successes: Int { count { if case .success = $0 { true } else { false } } }
    var errors: [NetworkError] { compactMap { if case .failure(let error) = $0 { error } else { nil } } }
}

extension AsyncStream where Element: Sendable {
    /// The elements up to and including the first match.
    func upTo(_ isWanted: (Element) -> Bool) async -> [Element] {
        var seen: [Element] = []
        for await element in self {
            seen.append(element)
            if isWanted(element) { break }
        }
        return seen
    }
}

extension AsyncStream<SessionEvent> {
    /// Waits until `count` matching events have passed.
    func passing(_ count: Int, _ isWanted: (SessionEvent) -> Bool) async {
        var rest = count
        _ = await upTo { event in
            if isWanted(event) { rest -= 1 }
            return rest <= 0
        }
    }
}

/// Polls until a condition that no event announces holds.
func waitUntil(_ condition: () async -> Bool) async {
    while await !condition() { await Task.yield() }
}

/// Checks that a cancelled call throws its cancellation error.
func expectCancelled(_ task: Task<User, any Error>, sourceLocation: SourceLocation = #_sourceLocation) async {
    let error = await #expect(throws: NetworkError.self, sourceLocation: sourceLocation) { try await task.value }
    #expect(error?.isCancelled == true, sourceLocation: sourceLocation)
}

extension Collection where Element == SessionEvent {
    var expiries: Int { count { if case .expired = $0 { true } else { false } } }
}

extension SessionEvent {
    var isSignedOut: Bool { if case .signedOut = self { true } else { false } }
    var isJoined: Bool { if case .refreshJoined = self { true } else { false } }
    var isProbe: Bool { if case .tokenProbed = self { true } else { false } }
    var isRefreshed: Bool { if case .refreshSucceeded = self { true } else { false } }
}
