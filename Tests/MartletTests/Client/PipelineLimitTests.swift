import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Limits of the pipeline", .timeLimit(.minutes(10))) struct PipelineLimitTests {
    @Test("a replay that waits for a slot is not sent once its user has signed out")
    func signedOutBeforeReplay() async throws {
        let app = try await App.signedIn { $0.maximumConcurrentRequests = 1 }
        app.backend.invalidateAccessTokens()
        let refresh = Gate()
        let slot = Gate()
        app.backend.beforeRefresh { _ in
            await refresh.pass()
            return nil
        }
        app.backend.beforeCall { request in
            if request.path == "/slow" { await slot.pass() }
            return nil
        }
        async let replayed = error { let _: Echo = try await app.client.send(Get("/me", .ifSignedIn)) }
        await refresh.waitForArrivals()
        // The first attempt has released the only slot, and this call takes it before the refresh ends.
        async let slow = error { let _: Echo = try await app.client.send(Get("/slow", .none)) }
        await slot.waitForArrivals()
        var events = app.tokens.events.makeAsyncIterator()
        refresh.open()
        while let event = await events.next() {
            if case .refreshSucceeded = event { break }
        }
        await app.tokens.signOut()
        slot.open()
        let failure = await replayed
        guard case .sessionChanged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        _ = await slow
        #expect(app.transport.requests(to: "/me").count == 1)
    }

    @Test("a call that waits for a slot is not sent once another user has signed in")
    func switchedWhileQueued() async throws {
        let backend = SimulatedBackend()
        let slot = Gate()
        backend.beforeCall { request in
            if request.path == "/slow" { await slot.pass() }
            return nil
        }
        let (queries, querying) = AsyncStream.makeStream(of: Void.self)
        let transport = SingleConnectionTransport(stub: backend.transport) { querying.yield() }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: backend.issue())
        let client = NetworkClient(tokens: tokens)
        async let slow = error { let _: Echo = try await client.send(Get("/slow", .none)) }
        await slot.waitForArrivals()
        async let queued = error { let _: Echo = try await client.send(Get("/me")) }
        // The open call has queried the limit once. The other call takes its token, then queries the limit to acquire
        // the slot, and queries it again before it enters the queue.
        var limits = queries.makeAsyncIterator()
        for _ in 0..<3 { await limits.next() }
        try await tokens.signIn(with: backend.issue())
        slot.open()
        let failure = await queued
        guard case .sessionChanged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        _ = await slow
        #expect(transport.stub.requests(to: "/me").isEmpty)
    }

    @Test(
        "an attempt that takes too long times out, even if the transport does not return") func timeout() async throws
    {
        let time = ManualTimeSource()
        let gate = Gate()
        let transport = StubTransport { _ in
            await gate.pass()
            return .status(204)
        }
        let client = client(transport) {
            $0.time = time
            $0.retry = .never
            $0.timeout = .seconds(5)
        }
        let call = Task { await error { try await client.send(Get("/a", .none)) } }
        await gate.waitForArrivals()
        time.advance(by: .seconds(5))
        guard case .timedOut(_, .seconds(5)) = await call.value else {
            Issue.record("the call did not time out")
            return
        }
        gate.open()
    }

    @Test("a cancelled call returns before the transport does") func cancellation() async throws {
        let gate = Gate()
        let transport = StubTransport { _ in
            await gate.pass()
            return .status(204)
        }
        let client = client(transport)
        let call = Task { await error { try await client.send(Get("/a", .none)) } }
        await gate.waitForArrivals()
        call.cancel()
        #expect(await call.value?.isCancelled == true)
        gate.open()
    }

    @Test("the number of requests in flight per origin is limited") func concurrencyLimit() async throws {
        let running = Locked((now: 0, most: 0))
        let gate = Gate()
        let transport = StubTransport { _ in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            await gate.pass()
            running.withLock { $0.now -= 1 }
            return .status(204)
        }
        // Other tests may keep the machine busy for longer than the default timeout, and a timeout is retried.
        let client = client(transport) {
            $0.maximumConcurrentRequests = 4
            $0.timeout = .seconds(Int64.max)
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { _ = await error { try await client.send(Get("/a", .none)) } } }
            await gate.waitForArrivals(4)
            gate.open()
        }
        #expect(running.withLock { $0.most } == 4)
        #expect(transport.requests.count == 40)
    }

    @Test(
        "C45: a refresh does not wait for a slot behind the calls that wait for it") func refreshBypassesLimit()
        async throws
    {
        let app = try await App.signedIn { $0.maximumConcurrentRequests = 4 }
        app.backend.invalidateAccessTokens()
        #expect(await app.burst(40).allSucceeded)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("the largest possible timeout does not overflow") func endlessTimeout() async throws {
        let transport = StubTransport { _ in .status(204) }
        try await client(transport) { $0.timeout = .seconds(Int64.max) }.send(Get("/a", .none))
    }

    @Test("a new call does not pass the calls that wait for a slot, even if the limit has grown") func fairness()
        async throws
    {
        let limit = Locked(1)
        let limiter = ConcurrencyLimiter { _ in limit.withLock { $0 } }
        let origin = try BaseURL("https://api.example.com").location.get().origin
        let claim = ConcurrencyLimiter.Claim(origin: origin, isLasting: false)
        #expect(limiter.take(claim))
        let order = Log()
        func call(_ name: String) -> Task<Void, any Error> {
            Task {
                if !limiter.take(claim) { try await limiter.wait(for: claim) }
                order.add(name)
                limiter.release(claim)
            }
        }
        var calls = [call("first")]
        while limiter.waitingCount(for: origin) < 1 { await Task.yield() }
        calls.append(call("second"))
        while limiter.waitingCount(for: origin) < 2 { await Task.yield() }
        limit.withLock { $0 = 2 }
        calls.append(call("new"))
        for call in calls { try await call.value }
        #expect(order.lines == ["first", "second", "new"])
        limiter.release(claim)
    }

    /// Reports that requests share a connection as soon as the first response has arrived, as HTTP/2 does.
    private struct MultiplexingTransport: Transport {
        let base: StubTransport
        let isMultiplexed = Locked(false)

        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            let response = try await base.send(request, body: body)
            isMultiplexed.withLock { $0 = true }
            return response
        }

        func parallelRequests(to origin: Origin) -> Int? { isMultiplexed.withLock { $0 } ? nil : 1 }
    }

    @Test("queued calls are sent when the first head shows that requests share a connection, although a stream goes on")
    func multiplexing() async throws {
        let gate = Gate()
        let base = StubTransport { request in
            if request.path == "/log" { await gate.pass() }
            return .json("{}")
        }
        let client = NetworkClient(
            baseURL: "https://api.example.com", transport: MultiplexingTransport(base: base))
        let streaming = Task { try await client.stream(Get("/log", .none)) }
        await gate.waitForArrivals()
        let call = Task { try await client.data(for: Get("/a", .none)).status }
        let origin = try #require(Origin("https://api.example.com"))
        while client.pipeline.slots.waitingCount(for: origin) < 1 { await Task.yield() }
        gate.open()
        let stream = try await streaming.value
        #expect(try await call.value == 200)
        #expect(try await stream.value.collect(upTo: 100) == Data("{}".utf8))
    }

    @Test("a limit that no app can reach does not trap") func unreachableLimit() throws {
        let limiter = ConcurrencyLimiter(reservePerConnection: 4) { _ in .max }
        let claim = ConcurrencyLimiter.Claim(
            origin: try #require(Origin("https://api.example.com")), isLasting: false)
        for _ in 0..<2 { #expect(limiter.take(claim)) }
        limiter.release(claim, reserve: .opens)
        #expect(limiter.take(claim))
    }

    @Test("the reserve closes when no request is under way, whatever has opened it") func idleReserve() throws {
        let limiter = ConcurrencyLimiter(reservePerConnection: 1) { _ in 1 }
        let claim = ConcurrencyLimiter.Claim(
            origin: try #require(Origin("https://api.example.com")), isLasting: false)
        #expect(limiter.take(claim))
        limiter.release(claim, reserve: .opens)
        #expect(limiter.take(claim))
        #expect(!limiter.take(claim))
    }

    @Test("a busy origin keeps its limit, however many origins there are") func manyOrigins() throws {
        let limiter = ConcurrencyLimiter { _ in 2 }
        let claims = try (0..<20).map { number in
            ConcurrencyLimiter.Claim(
                origin: try #require(Origin("https://api\(number).example.com")), isLasting: false)
        }
        for claim in claims + claims { #expect(limiter.take(claim)) }
        for claim in claims {
            limiter.release(claim)
            #expect(limiter.take(claim))
            #expect(!limiter.take(claim))
        }
    }

    @Test("a limit below 1 lets one request pass at a time", arguments: [0, -1]) func smallestLimit(limit: Int)
        async throws
    {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) { $0.maximumConcurrentRequests = limit }
        let slots = client.pipeline.slots
        let claim = ConcurrencyLimiter.Claim(
            origin: try #require(Origin("https://api.example.com")), isLasting: false)
        try #require(slots.take(claim))
        #expect(!slots.take(claim))
        slots.release(claim)
        try await client.send(Get("/a", .none))
        #expect(transport.requests.count == 1)
    }

    @Test("requests beyond the limit wait for short requests that open the reserve, never for lasting ones")
    func reserve() throws {
        let limiter = ConcurrencyLimiter(reservePerConnection: 1) { _ in 3 }
        let origin = try BaseURL("https://api.example.com").location.get().origin
        let (short, lasting) = (
            ConcurrencyLimiter.Claim(origin: origin, isLasting: false),
            ConcurrencyLimiter.Claim(origin: origin, isLasting: true)
        )
        for claim in [lasting, lasting, short] { #expect(limiter.take(claim)) }
        #expect(!limiter.take(short))
        limiter.release(short, reserve: .opens)
        for _ in 0..<2 { #expect(limiter.take(short)) }
        #expect(!limiter.take(lasting))
        limiter.release(lasting, reserve: .closes)
        for _ in 0..<2 { #expect(limiter.take(short)) }
        #expect(!limiter.take(short))
        limiter.release(short, reserve: .closes)
        #expect(!limiter.take(short))
    }
}
