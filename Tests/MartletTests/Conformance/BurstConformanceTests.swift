import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: bursts", .timeLimit(.minutes(10))) struct BurstConformanceTests {
    @Test(
        "a thousand calls on a rejected token cost one rejection per connection, and one refresh", arguments: [0, 4])
    func oneRefusalForEachConnection(reserve: Int) async throws {
        let backend = SimulatedBackend()
        let transport = NarrowTransport(backend.transport, connections: 8, reserve: reserve)
        let client = try await Self.client(over: transport, backend)
        backend.invalidateAccessTokens()
        let results = await Self.burst(1_000, on: client)
        #expect(results.allSucceeded)
        #expect(backend.refreshCalls == 1)
        #expect(backend.rejections <= 8)
        #expect(transport.inner.requests.count <= 1_000 + 8 + 1)
        #expect(transport.mostAtOnce.withLock { $0 } <= 8 + 8 * reserve)
    }

    @Test(
        "a token revoked amid a thousand calls costs one rejection per request under way, and one refresh",
        arguments: [0, 4])
    func oneRefusalForEachRequestUnderWay(reserve: Int) async throws {
        let backend = SimulatedBackend()
        let transport = NarrowTransport(backend.transport, connections: 8, reserve: reserve)
        let client = try await Self.client(over: transport, backend)
        let served = Locked(0)
        backend.beforeCall { [unowned backend] _ in
            let count = served.withLock { served in
                served += 1
                return served
            }
            if count == 500 { backend.invalidateAccessTokens() }
            return nil
        }
        #expect(await Self.burst(1_000, on: client).allSucceeded)
        #expect(backend.refreshCalls == 1)
        #expect(backend.rejections <= 8 + 8 * reserve)
    }

    @Test("calls without a token do not open the reserve for calls whose token is rejected")
    func openCallsOpenNoReserve() async throws {
        let backend = SimulatedBackend()
        let transport = NarrowTransport(backend.transport, connections: 8, reserve: 4)
        let client = try await Self.client(over: transport, backend)
        backend.invalidateAccessTokens()
        async let others = Self.burst(500, on: client, Get("/public/news", .none))
        #expect(await Self.burst(500, on: client).allSucceeded)
        #expect(await others.allSucceeded)
        // The backend counts the calls without a token as well.
        #expect(backend.rejections - backend.calls(to: "/public/news") <= 8)
    }

    @Test("a call that waited for a slot is signed with the token current when it gets the slot")
    func signedWhenItsTurnComes() async throws {
        let backend = SimulatedBackend()
        let transport = NarrowTransport(backend.transport, connections: 1)
        let client = try await Self.client(over: transport, backend)
        let gate = Gate()
        backend.beforeCall { request in
            if request.path == "/slow" { await gate.pass() }
            return nil
        }
        async let slow = Self.call(Get("/slow"), on: client)
        await gate.waitForArrivals()
        async let queued = Self.burst(20, on: client)
        try await client.tokens?.refresh()
        gate.open()
        #expect(await slow.isSuccess)
        #expect(await queued.allSucceeded)
        #expect(transport.inner.requests(to: "/me").allSatisfy { $0.bearer == "access-2" })
    }

    @Test("a call that needs no token is not held up by calls that wait for one") func openCallsGoOn() async throws {
        let backend = SimulatedBackend()
        let transport = NarrowTransport(backend.transport, connections: 2)
        let client = try await Self.client(over: transport, backend)
        backend.invalidateAccessTokens()
        let gate = Gate()
        backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        async let waiting = Self.burst(10, on: client)
        await gate.waitForArrivals()
        let echo: Echo = try await client.send(Get("/public/news", .none))
        #expect(echo.token == "none")
        gate.open()
        #expect(await waiting.allSucceeded)
    }

    @Test("C55: ten thousand requests that arrive during one refresh all complete after it")
    func tenThousandDuringARefresh() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(3601))
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        async let results = app.burst(10_000)
        await gate.waitForArrivals()
        while app.tokens.inspect({ $0.waiting.count }) < 10_000 { await Task.yield() }
        gate.open()
        #expect(await results.allSucceeded)
        #expect(app.backend.refreshCalls == 1)
        #expect(app.transport.requests(to: "/me").count == 10_000)
        #expect(app.tokens.inspect { $0.waiting.isEmpty })
    }

    private static func client(
        over transport: NarrowTransport, _ backend: SimulatedBackend
    ) async throws -> NetworkClient {
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource(), random: { $0.upperBound })
        try await tokens.signIn(with: backend.issue())
        return NetworkClient(tokens: tokens)
    }

    private static func burst(
        _ count: Int, on client: NetworkClient, _ endpoint: Get = Get("/me")
    ) async -> [Result<Echo, NetworkError>] {
        await withTaskGroup(of: Result<Echo, NetworkError>.self) { group in
            for _ in 0..<count { group.addTask { await call(endpoint, on: client) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private static func call(_ endpoint: Get, on client: NetworkClient) async -> Result<Echo, NetworkError> {
        do throws(NetworkError) {
            return .success(try await client.send(endpoint))
        } catch {
            return .failure(error)
        }
    }
}

/// A transport with few connections that counts how many are in use at once.
private final class NarrowTransport: DeadlineTransport {
    let inner: StubTransport
    let mostAtOnce = Locked(0)
    let reservePerConnection: Int
    private let connections: Int
    private let inUse = Locked(0)

    init(_ inner: StubTransport, connections: Int, reserve: Int = 0) {
        self.inner = inner
        self.connections = connections
        self.reservePerConnection = reserve
    }

    func parallelRequests(to origin: Origin) -> Int? { connections }

    func makeIsolatedTransport() -> any Transport { inner }

    func exchange(
        _ request: HTTPRequest, body: Data?, upTo maximumCount: Int, within limit: Duration
    ) async throws -> TransportResponse {
        let response = try await send(request, body: body.map { OutgoingBody($0) })
        return TransportResponse(head: response.head, body: .bytes(try await response.body.collect(upTo: maximumCount)))
    }

    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        let now = inUse.withLock { inUse in
            inUse += 1
            return inUse
        }
        mostAtOnce.withLock { $0 = max($0, now) }
        defer { inUse.withLock { $0 -= 1 } }
        await Task.yield()
        return try await inner.send(request, body: body)
    }
}
