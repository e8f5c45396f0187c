import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: calls from interceptors", .timeLimit(.minutes(10))) struct HookCallConformanceTests {
    @Test(
        "C80: an interceptor may call its own client, although its call holds the only request slot",
        arguments: Hook.allCases)
    func onlySlot(hook: Hook) async throws {
        let transport = StubTransport { .status(hook == .retry && $0.number == 1 ? 418 : 204) }
        let caller = Caller(hook: hook)
        let client = client(transport) {
            $0.maximumConcurrentRequests = 1
            $0.interceptors = [caller]
        }
        caller.use(client)
        try await client.send(Get("/outer", .none))
        #expect(transport.requests(to: "/inner").count == 1)
        #expect(transport.requests(to: "/outer").count == (hook == .retry ? 2 : 1))
    }

    @Test(
        "C80: calls that take every request slot finish, although each makes a call in a hook", arguments: Hook.allCases
    )
    func everySlot(hook: Hook) async throws {
        let transport = StubTransport { _ in .status(204) }
        let caller = Caller(hook: hook)
        let client = client(transport) {
            $0.maximumConcurrentRequests = 2
            $0.interceptors = [caller]
        }
        caller.use(client)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await client.send(Get("/outer", .none)) } }
            try await group.waitForAll()
        }
        #expect(transport.requests(to: "/inner").count == (hook == .retry ? 0 : 8))
    }

    @Test("C80: a call from a hook refreshes its token while its call holds the only slot", arguments: Hook.allCases)
    func refresh(hook: Hook) async throws {
        let caller = Caller(hook: hook, authentication: .required)
        let app = try await App.signedIn {
            $0.maximumConcurrentRequests = 1
            $0.interceptors = [caller]
        }
        caller.use(app.client)
        app.backend.invalidateAccessTokens()
        #expect(await app.call("/outer").isSuccess)
        #expect(app.backend.refreshCalls == 1)
        #expect(app.transport.requests(to: "/inner").isEmpty == (hook == .retry))
    }

    @Test("C80: an automatic sign-in needs no slot, because a hook whose call holds one may wait for it")
    func automaticSignIn() async throws {
        let signIn = Gate()
        let caller = Caller(hook: .adapt, authentication: .required)
        let backend = SimulatedBackend()
        backend.beforeCall { ["/guest", "/outer"].contains($0.path) ? .status(204) : nil }
        let app = App(backend) { config in
            config.maximumConcurrentRequests = 1
            config.interceptors = [caller]
            config.automaticSignIn = { client in
                await signIn.pass()
                _ = try await client.data(for: Get("/guest", .none))
                try await client.tokens?.signIn(with: backend.issue())
            }
        }
        caller.use(app.client)
        let starter = Task { await app.call() }
        await signIn.waitForArrivals()
        let holder = Task { try await app.client.data(for: Get("/outer", .none)) }
        await caller.calls.waitForArrivals()
        signIn.open()
        _ = try await holder.value
        #expect(await starter.value.isSuccess)
    }

    @Test("C80: an interceptor that processes the response of a stream may call its own client") func stream()
        async throws
    {
        let transport = StubTransport { _ in .json("{}") }
        let caller = Caller(hook: .process)
        let client = client(transport) {
            $0.maximumConcurrentRequests = 1
            $0.interceptors = [caller]
        }
        caller.use(client)
        let response = try await client.stream(Get("/outer", .none))
        #expect(transport.requests(to: "/inner").count == 1)
        #expect(try await response.value.collect(upTo: 10).count == 2)
    }

    @Test("C80: a task that outlives the hook that started it waits for a slot like any other call") func lateTask()
        async throws
    {
        let (start, slow) = (Gate(), Gate())
        let (signals, signal) = AsyncStream.makeStream(of: String.self)
        let running = Locked((now: 0, most: 0))
        let stub = StubTransport { request in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            signal.yield(request.path)
            if request.path == "/slow" { await slow.pass() }
            running.withLock { $0.now -= 1 }
            return .status(204)
        }
        let transport = SingleConnectionTransport(stub: stub) { signal.yield("query") }
        let starter = TaskStarter(start: start)
        let client = client(transport) { $0.interceptors = [starter] }
        starter.client.withLock { $0 = client }
        try await client.send(Get("/outer", .none))
        async let slowCall: Void = client.send(Get("/slow", .none))
        var received = signals.makeAsyncIterator()
        while let next = await received.next(), next != "/slow" {}
        start.open()
        // The late call either asks for a slot or is sent at once.
        _ = await received.next()
        slow.open()
        try await slowCall
        try await starter.late.withLock { $0 }?.value
        #expect(stub.requests(to: "/late").count == 1)
        #expect(running.withLock { $0.most } == 1)
    }
}

/// A hook of an interceptor.
enum Hook: CaseIterable {
    case prepare, adapt, validate, retry, process
}

/// Makes a call through the intercepted client in one of the hooks.
private final class Caller: RequestInterceptor {
    private let hook: Hook
    private let authentication: AuthenticationRequirement
    private let client = Locked<NetworkClient?>(nil)
    /// Counts the calls of the hook.
    let calls = Gate()

    init(hook: Hook, authentication: AuthenticationRequirement = .none) {
        self.hook = hook
        self.authentication = authentication
        calls.open()
    }

    func use(_ client: NetworkClient) {
        self.client.withLock { $0 = client }
    }

    private func call(in hook: Hook, _ context: RequestContext) async throws {
        guard hook == self.hook, context.endpoint.path == "/outer" else { return }
        await calls.pass()
        _ = try await client.withLock { $0 }?.data(for: Get("/inner", authentication))
    }

    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        try await call(in: .prepare, context)
    }

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        try await call(in: .adapt, context)
    }

    func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
        try await call(in: .validate, context)
    }

    func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        guard context.attempt == 1, (try? await call(in: .retry, context)) != nil else { return .noOpinion }
        return hook == .retry && context.endpoint.path == "/outer" ? .retry : .noOpinion
    }

    func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
        try await call(in: .process, context)
        return response
    }
}

/// Starts a task in a hook, which makes a call after the hook has returned.
private final class TaskStarter: RequestInterceptor {
    let client = Locked<NetworkClient?>(nil)
    let late = Locked<Task<Void, any Error>?>(nil)
    private let start: Gate

    init(start: Gate) {
        self.start = start
    }

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        guard context.endpoint.path == "/outer" else { return }
        let client = client.withLock { $0 }
        late.withLock { late in
            late = Task { [start] in
                await start.pass()
                try await client?.send(Get("/late", .none))
            }
        }
    }
}
