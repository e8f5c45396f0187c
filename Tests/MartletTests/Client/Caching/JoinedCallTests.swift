import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Identical calls that join", .timeLimit(.minutes(10))) struct JoinedCallTests {
    /// A client whose server waits at a gate.
    private static func client(
        _ gate: Gate, status: Int = 200, _ change: (inout NetworkConfig) -> Void = { _ in }
    ) -> (NetworkClient, StubTransport) {
        let transport = StubTransport { request in
            if request.method == .get { await gate.pass() }
            return status == 200 ? .counted(request, [:]) : .status(status)
        }
        let client = Martlet.NetworkClient(
            baseURL: "https://api.example.com",
            config: config {
                $0.coalescesIdenticalCalls = true
                $0.retry = .never
                $0.time = ManualTimeSource()
                change(&$0)
            }, transport: transport)
        return (client, transport)
    }

    @Test("a thousand callers share one request, although every other one is cancelled") func thousand() async throws {
        let gate = Gate()
        let (client, transport) = Self.client(gate)
        var generator = SeededGenerator(seed: 7)
        let calls = (0..<1000).map { _ in Task { try await client.text(Visit("/a")) } }
        await gate.waitForArrivals()
        let cancelled = Set((1..<1000).filter { _ in Bool.random(using: &generator) })
        for index in cancelled { calls[index].cancel() }
        gate.open()
        for (index, call) in calls.enumerated() where !cancelled.contains(index) {
            let text = try await call.value
            // Callers that start after the response has arrived share a later one.
            #expect(text == "1" || transport.requests.count > 1)
        }
        for index in cancelled { _ = await calls[index].result }
    }

    @Test("callers under way share one response, and one error", arguments: [200, 500]) func shared(status: Int)
        async throws
    {
        let gate = Gate()
        let log = Log()
        let (client, transport) = Self.client(gate, status: status)
        let calls = (0..<3).map { _ in Task { await result(client, log) } }
        await gate.waitForArrivals()
        while client.pipeline.joined?.waiting != 3 { await Task.yield() }
        gate.open()
        for call in calls { #expect(await call.value == (status == 200 ? "1" : "500")) }
        #expect(transport.requests.count == 1)
    }

    @Test("a cancelled caller leaves at once, and the last one cancels the request") func cancelled() async throws {
        let gate = Gate()
        let (client, transport) = Self.client(gate)
        let (first, second) = (Task { try await client.text(Visit("/a")) }, Task { try await client.text(Visit("/a")) })
        await gate.waitForArrivals()
        while client.pipeline.joined?.waiting != 2 { await Task.yield() }
        first.cancel()
        #expect(await error { _ = try await first.value }?.isCancelled == true)
        second.cancel()
        #expect(await error { _ = try await second.value }?.isCancelled == true)
        gate.open()
        #expect(try await client.text(Visit("/a")) == "2")
        #expect(transport.requests.count == 2)
    }

    @Test("callers after the cancelled ones share a request, although the cancelled request ends only then")
    func afterCancelled() async throws {
        let (calls, key) = (JoinedCalls(time: ManualTimeSource()), Self.key)
        let (gates, requests) = ([Gate(), Gate()], Locked(0))
        let perform = { @Sendable (life: Life) async -> JoinedCalls.Outcome in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            await gates[min(number, 2) - 1].pass()
            withExtendedLifetime(life) {}
            return .failure(.cancelled(CallDescription(method: "GET", url: "/\(number)", attempts: 1)))
        }
        weak var life: Life?
        let run = { (held: Life) in
            Task { await calls.run(key) { _ in await perform(held) } }
        }
        let first = {
            let held = Life()
            life = held
            return run(held)
        }()
        await gates[0].waitForArrivals()
        first.cancel()
        let second = run(Life())
        await gates[1].waitForArrivals()
        #expect(await first.value == nil)
        gates[0].open()
        // The work of the first request has ended when it is no longer referenced.
        while life != nil { await Task.yield() }
        let third = run(Life())
        while calls.joins == 0, requests.withLock({ $0 }) < 3 { await Task.yield() }
        gates[1].open()
        for call in [second, third] { #expect(await call.value != nil) }
        #expect(requests.withLock { $0 } == 2)
    }

    /// An endpoint that computes a header field each time.
    private struct Numbered: APIEndpoint {
        let path: RequestPath = "/a"
        let authentication = AuthenticationRequirement.none
        let readings = Locked(0)

        var headers: HTTPFields {
            let reading = readings.withLock { readings in
                readings += 1
                return readings
            }
            return [.userAgent: "app/\(reading)"]
        }
    }

    @Test("the request that is sent is the one that callers join, although the endpoint computes a header field")
    func computedFields() async throws {
        let gate = Gate()
        let (client, transport) = Self.client(gate)
        gate.open()
        let endpoint = Numbered()
        try await client.send(endpoint)
        #expect(endpoint.readings.withLock { $0 } == 1)
        #expect(transport.requests.map { $0.headers[.userAgent] } == ["app/1"])
    }

    @Test("other URLs, header fields, methods and writes are requests of their own") func different() async throws {
        let gate = Gate()
        let (client, transport) = Self.client(gate)
        let visits = [Visit("/a"), Visit("/b"), Visit("/a", headers: [.acceptLanguage: "de"])]
        let calls = visits.map { visit in Task { try await client.text(visit) } }
        await gate.waitForArrivals(3)
        // A call that is made after a write must not get a response from before it.
        _ = try await client.text(Visit("/a", .post))
        let later = Task { try await client.text(Visit("/a")) }
        await gate.waitForArrivals(4)
        let intercepted = Task { try await client.intercepted(by: ClosureInterceptor()).text(Visit("/a")) }
        await gate.waitForArrivals(5)
        gate.open()
        for call in calls + [later, intercepted] { _ = try await call.value }
        #expect(transport.requests.count == 6)
    }

    @Test("calls with other accepted statuses or time limits are requests of their own") func otherSettings()
        async throws
    {
        let gate = Gate()
        let (client, transport) = Self.client(gate, status: 404)
        let calls: [Call<NoContent>] = [
            Call(.get, "/a"), Call(.get, "/a", acceptableStatuses: [404]), Call(.get, "/a", timeout: .seconds(5)),
            Call(.get, "/a", connectivityTimeout: .seconds(5)),
        ]
        let failures = calls.map { call in Task { await error { _ = try await client.data(for: call) }?.status } }
        while client.pipeline.joined?.waiting != calls.count { await Task.yield() }
        gate.open()
        for (index, failure) in failures.enumerated() { #expect(await failure.value == (index == 1 ? nil : 404)) }
        #expect(transport.requests.count == calls.count)
    }

    @Test("a call that requires a token does not join one that may go without") func requirements() async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        store.hold(.read, at: gate)
        let app = App(store: store) { $0.coalescesIdenticalCalls = true }
        let open = Task { try await app.client.data(for: Get("/public", .ifSignedIn)) }
        let closed = Task { await error { _ = try await app.client.data(for: Get("/public", .required)) } }
        while app.client.pipeline.joined?.waiting != 2 { await Task.yield() }
        gate.open()
        let failure = await closed.value
        guard case .signInRequired = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        _ = try await open.value
        #expect(app.transport.requests.map(\.path) == ["/public"])
    }

    @Test("calls with a monitor do not join") func monitored() async throws {
        let gate = Gate()
        let (client, transport) = Self.client(gate)
        let plain = Task { try await client.text(Visit("/a")) }
        await gate.waitForArrivals()
        let monitored = (0..<2).map { _ in
            Task { try await client.data(for: Visit("/a"), monitor: TransferMonitor()) }
        }
        while gate.arrivals + (client.pipeline.joined?.joins ?? 0) < 3 { await Task.yield() }
        gate.open()
        _ = try await plain.value
        for call in monitored { _ = try await call.value }
        #expect(transport.requests.count == 3)
    }

    @Test("GET calls with bodies do not join, because the bodies may differ") func bodies() async throws {
        let gate = Gate()
        let (client, transport) = Self.client(gate)
        let calls = ["one", "two"].map { text in
            Task { try await client.data(for: Call<NoContent>(.get, "/a", body: .text(text))) }
        }
        while gate.arrivals + (client.pipeline.joined?.joins ?? 0) < 2 { await Task.yield() }
        gate.open()
        for call in calls { _ = try await call.value }
        #expect(Set(transport.requests.map(\.text)) == ["one", "two"])
    }

    @Test("a call of the next user does not join one of the former") func users() async throws {
        let backend = SimulatedBackend()
        let gate = Gate()
        backend.beforeCall { request in
            await gate.pass()
            return .counted(request, [:])
        }
        let app = try await App.signedIn(backend) { $0.coalescesIdenticalCalls = true }
        let former = Task { try await app.client.text(Visit("/a")) }
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: backend.issue())
        let next = Task { try await app.client.text(Visit("/a")) }
        await gate.waitForArrivals(2)
        gate.open()
        _ = await former.result
        _ = try await next.value
        #expect(app.transport.requests(to: "/a").map(\.bearer) == ["access-1", "access-2"])
    }

    @Test("C94: a call that waits for its slot and goes out with a cookie set since is joined by no further caller")
    func changedCookies() async throws {
        let (slot, gate, time) = (Gate(), Gate(), ManualTimeSource())
        let transport = StubTransport { request in
            guard request.path == "/me" else {
                await slot.pass()
                return .status(204, headers: [.setCookie: "sid=1; Max-Age=1; Path=/"])
            }
            await gate.pass()
            return .counted(request, [:])
        }
        let client = Martlet.NetworkClient(
            baseURL: "https://api.example.com",
            config: config {
                ($0.coalescesIdenticalCalls, $0.cookies, $0.time) = (true, CookieJar(), time)
                $0.maximumConcurrentRequests = 1
            }, transport: transport)
        let session = Task { try await client.data(for: Call<NoContent>.get("/session")) }
        await slot.waitForArrivals()
        let former = Task { try await client.text(Visit("/me")) }
        while client.pipeline.joined?.waiting != 2 { await Task.yield() }
        slot.open()
        _ = try await session.value
        await gate.waitForArrivals()
        time.advance(by: .seconds(2))
        let next = Task { try await client.text(Visit("/me")) }
        while client.pipeline.joined?.waiting != 1 { await Task.yield() }
        gate.open()
        #expect(try await former.value != next.value)
        #expect(transport.requests(to: "/me").map { $0.headers[.cookie] } == ["sid=1", nil])
    }

    @Test("a hook may make the call that its own call performs") func insideHook() async throws {
        let gate = Gate()
        gate.open()
        let inner = Locked<NetworkClient?>(nil)
        let (client, transport) = Self.client(gate) {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { _, context in
                    guard
                        let client = inner.withLock({ client in
                            defer { client = nil }
                            return client
                        })
                    else { return }
                    _ = try await client.text(Visit("/a"))
                })
            ]
        }
        inner.withLock { $0 = client }
        #expect(try await client.text(Visit("/a")) == "2")
        #expect(transport.requests.count == 2)
    }

    /// An object that lives as long as the work of a request.
    private final class Life: Sendable {}

    private static var key: JoinedCalls.Key {
        JoinedCalls.Key(
            owner: ResponseOwner(manager: nil, state: .unbound, timesEmptied: TimesEmptied()),
            authentication: .none, allowsRefresh: true, endpoint: ObjectIdentifier(Visit.self),
            request: HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/a"),
            statuses: .successful, timeout: nil, connectivityTimeout: nil)
    }

    private func result(_ client: NetworkClient, _ log: Log) async -> String {
        do {
            return try await client.text(Visit("/a"))
        } catch {
            return "\((error as? NetworkError)?.response?.status ?? 0)"
        }
    }
}
