import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: the owner of what a response leaves behind", .timeLimit(.minutes(10)))
struct ResponseOwnerConformanceTests {
    /// A client without a manager. Each response is fresh for a minute, sets a cookie, and tells its request's number;
    /// the request for `/held` waits at the gate.
    private struct Client {
        let jar = CookieJar()
        let cache = HTTPCache()
        let gate = Gate()
        let transport: StubTransport
        let client: NetworkClient

        init(_ change: (inout NetworkConfig) -> Void = { _ in }) {
            transport = StubTransport { [gate] request in
                if request.path == "/held" { await gate.pass() }
                return .counted(
                    request, [.setCookie: "sid=\(request.number); Path=/", .cacheControl: "max-age=60"])
            }
            client = Martlet.NetworkClient(
                baseURL: "https://api.example.com",
                config: config { [jar, cache] in
                    $0.cookies = jar
                    $0.cache = cache
                    $0.coalescesIdenticalCalls = true
                    $0.retry = .never
                    $0.time = ManualTimeSource()
                    change(&$0)
                }, transport: transport)
        }

        func removeAll() {
            jar.removeAll()
            cache.removeAll()
        }
    }

    /// The objects that the app empties at a sign-out.
    enum Emptied: CaseIterable {
        case jar, cache, both
    }

    @Test(
        "C93: without a manager, a response that arrives after removeAll() leaves no cookie and no stored response",
        arguments: Emptied.allCases)
    func late(_ emptied: Emptied) async throws {
        let app = Client()
        let call = Task { try await app.client.text(Visit("/held")) }
        await app.gate.waitForArrivals()
        if emptied != .cache { app.jar.removeAll() }
        if emptied != .jar { app.cache.removeAll() }
        app.gate.open()
        #expect(try await call.value == "1")
        #expect(app.cache.withStore { $0.isEmpty })
        #expect(try await app.client.text(Visit("/other")) == "2")
        #expect(app.transport.requests.last?.headers[.cookie] == nil)
    }

    @Test("C93: after removeAll() a call joins none that was made before") func joined() async throws {
        let app = Client()
        let former = Task { try await app.client.text(Visit("/held")) }
        await app.gate.waitForArrivals()
        app.removeAll()
        let next = Task { try await app.client.text(Visit("/held")) }
        await app.gate.waitForArrivals(2)
        app.gate.open()
        #expect(try await former.value == "1")
        #expect(try await next.value == "2")
    }

    @Test("C93: a call that was made before removeAll() does not send the next user's cookies") func formerCall()
        async throws
    {
        let app = Client { $0.maximumConcurrentRequests = 1 }
        let held = Task { try await app.client.text(Visit("/held")) }
        await app.gate.waitForArrivals()
        // Waits for the slot.
        let former = Task { try await app.client.text(Visit("/former")) }
        let origin = try #require(Origin("https://api.example.com"))
        while app.client.pipeline.slots.waitingCount(for: origin) == 0 { await Task.yield() }
        app.removeAll()
        app.jar.withStore { store in
            let cookie = Cookie(
                "sid=next; Path=/", from: origin, path: "/", at: CookieMoment(ManualTimeSource()))
            if let cookie { store.insert(cookie, in: .guest(nil, epoch: -1)) }
        }
        app.gate.open()
        _ = try await (held.value, former.value)
        #expect(app.transport.requests.last?.headers[.cookie] == nil)
        _ = try await app.client.text(Visit("/next"))
        #expect(app.transport.requests.last?.headers[.cookie] == "sid=next")
    }

    @Test("C93: what a guest has left does not reach the next manager, even at the same address") func managers()
        async throws
    {
        let jar = CookieJar()
        for number in 1...20 {
            let app = App { $0.cookies = jar }
            app.backend.beforeCall { _ in .status(200, headers: [.setCookie: "guest=\(number); Path=/"]) }
            _ = try await app.client.text(Visit("/public", .get, .none))
            #expect(app.transport.requests.last?.headers[.cookie] == nil)
        }
    }

    @Test("C94: the cache tells apart the credentials that an interceptor puts in place of the token")
    func interceptedCredentials() async throws {
        let key = Locked("X")
        let backend = SimulatedBackend()
        backend.beforeCall { request in
            StubTransport.Response(
                200, headers: [.cacheControl: "max-age=60", .vary: "Authorization"],
                body: Data((request.headers[.authorization] ?? "none").utf8))
        }
        let app = try await App.signedIn(backend) {
            $0.cache = HTTPCache()
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, _ in
                    request.headerFields[.authorization] = "ApiKey \(key.withLock { $0 })"
                })
            ]
        }
        #expect(try await app.client.text(Visit("/a")) == "ApiKey X")
        key.withLock { $0 = "Y" }
        #expect(try await app.client.text(Visit("/a")) == "ApiKey Y")
        key.withLock { $0 = "X" }
        #expect(try await app.client.text(Visit("/a")) == "ApiKey X")
        #expect(app.transport.requests(to: "/a").count == 2)
    }

    @Test("C94: calls do not join if an interceptor may add credentials") func interceptedJoin() async throws {
        let users = Locked(["X", "Y"])
        let app = Client {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, _ in
                    request.headerFields[.authorization] = "ApiKey \(users.withLock { $0.removeFirst() })"
                })
            ]
        }
        let calls = (1...2).map { _ in Task { try await app.client.text(Visit("/held")) } }
        await app.gate.waitForArrivals(2)
        app.gate.open()
        for call in calls { _ = try await call.value }
        #expect(Set(app.transport.requests.map { $0.headers[.authorization] }) == ["ApiKey X", "ApiKey Y"])
    }

    @Test("C94: calls with other cookies do not join") func cookies() async throws {
        let app = Client()
        let first = Task { try await app.client.text(Visit("/held")) }
        await app.gate.waitForArrivals()
        _ = try await app.client.text(Visit("/login"))
        let second = Task { try await app.client.text(Visit("/held")) }
        await app.gate.waitForArrivals(2)
        app.gate.open()
        #expect(try await first.value != second.value)
    }

    @TaskLocal private static var caller = "none"

    @Test("a joined call does not see the task-local values of the caller that started it") func taskLocals()
        async throws
    {
        let seen = Locked<[String]>([])
        let transport = StubTransport { request in
            seen.withLock { $0.append(Self.caller) }
            return .counted(request, [:])
        }
        let client = Martlet.NetworkClient(
            baseURL: "https://api.example.com", config: config { $0.coalescesIdenticalCalls = true },
            transport: transport)
        _ = try await Self.$caller.withValue("first") { try await client.text(Visit("/a")) }
        #expect(seen.withLock { $0 } == ["none"])
    }

    @Test("C96: a comma in a cookie's value does not start another cookie") func comma() async throws {
        let transport = StubTransport { request in
            .counted(request, [.setCookie: "prefs=a,sid=evil; Path=/"])
        }
        let client = Martlet.NetworkClient(
            baseURL: "https://api.example.com", config: config { $0.cookies = CookieJar() }, transport: transport)
        for _ in 1...2 { _ = try await client.text(Visit("/a")) }
        #expect(transport.requests.last?.headers[.cookie] == "prefs=a,sid=evil")
    }

    @Test("C99: a stale answer is no acceptance of the token") func staleResponse() async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = nil }
        let isDown = Locked(false)
        backend.beforeCall { request in
            if isDown.withLock({ $0 }) { return .status(503) }
            return StubTransport.Response(
                200, headers: [.cacheControl: "max-age=0, stale-if-error=600", .eTag: "\"1\""],
                body: Data("stored".utf8))
        }
        let app = try await App.signedIn(backend) {
            $0.cache = HTTPCache()
            $0.retry = .never
        }
        #expect(try await app.client.text(Visit("/a")) == "stored")
        try await app.tokens.refresh()
        isDown.withLock { $0 = true }
        #expect(try await app.client.text(Visit("/a")) == "stored")
        #expect(app.tokens.inspect { $0.machine.session?.wasAccepted } == false)
        isDown.withLock { $0 = false }
        #expect(try await app.client.text(Visit("/a")) == "stored")
        #expect(app.tokens.inspect { $0.machine.session?.wasAccepted } == true)
    }

    enum SessionEnd: CaseIterable {
        case signOut, otherUser, expiry
    }

    @Test(
        "C99: a stale answer does not outlive the session of its call", arguments: SessionEnd.allCases, [false, true])
    func staleResponseAfterEnd(_ end: SessionEnd, isReached: Bool) async throws {
        let backend = SimulatedBackend()
        let (isDown, gate) = (Locked(false), Gate())
        backend.beforeCall { _ in
            guard isDown.withLock({ $0 }) else {
                return StubTransport.Response(
                    200, headers: [.cacheControl: "max-age=0, stale-if-error=600", .eTag: "\"1\""],
                    body: Data("stored".utf8))
            }
            await gate.pass()
            if isReached { return .status(503) }
            throw TransportError.connectionLost("reset by peer")
        }
        let app = try await App.signedIn(backend) {
            $0.cache = HTTPCache()
            $0.retry = .never
        }
        #expect(try await app.client.text(Visit("/a")) == "stored")
        isDown.withLock { $0 = true }
        let call = Task { try await app.client.text(Visit("/a")) }
        await gate.waitForArrivals()
        switch end {
        case .signOut: await app.tokens.signOut()
        case .otherUser: try await app.tokens.signIn(with: backend.issue(), account: SessionAccount(userID: "bob"))
        case .expiry:
            backend.beforeRefresh { _ in .status(401) }
            await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        }
        gate.open()
        await #expect(throws: NetworkError.self) { try await call.value }
    }

    @Test("C99: without a manager, a stale answer is not used after removeAll()") func staleResponseAfterRemoval()
        async throws
    {
        let (isDown, gate) = (Locked(false), Gate())
        let app = CachingApp { request in
            guard isDown.withLock({ $0 }) else {
                return .counted(request, [.cacheControl: "max-age=0, stale-if-error=600", .eTag: "\"1\""])
            }
            await gate.pass()
            throw TransportError.offline
        }
        #expect(try await app.client.text(Visit("/a")) == "1")
        isDown.withLock { $0 = true }
        let call = Task { try await app.client.text(Visit("/a")) }
        await gate.waitForArrivals()
        app.cache.removeAll()
        gate.open()
        await #expect(throws: NetworkError.self) { try await call.value }
    }

    @Test("C93: a cookie from before the store was read does not reach the next user after an expiry")
    func unreadStore() async throws {
        let (store, jar, backend) = (FailingTokenStore(), CookieJar(), SimulatedBackend())
        _ = try await App.signedIn(backend, store: store)
        store.isLocked = true
        let app = App(backend, store: store) { $0.cookies = jar }
        let isAda = Locked(true)
        backend.beforeCall { _ in
            isAda.withLock { $0 } ? .status(200, headers: [.setCookie: "sid=ada; Path=/"]) : .status(200)
        }
        _ = try await app.client.text(Visit("/public", .get, .none))
        isAda.withLock { $0 = false }
        store.isLocked = false
        backend.beforeRefresh { _ in .status(401) }
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        guard case .expired = app.tokens.state else {
            Issue.record("\(app.tokens.state)")
            return
        }
        _ = try await app.client.text(Visit("/public", .get, .none))
        #expect(app.transport.requests.last?.headers[.cookie] == nil)
        try await app.tokens.signIn(with: backend.issue(), account: SessionAccount(userID: "bob"))
        _ = try await app.client.text(Visit("/a"))
        #expect(app.transport.requests.last?.headers[.cookie] == nil)
    }

    @Test(
        "a cookie from before the store was read belongs to the session that was in it, or to calls without a session")
    func readStore() async throws {
        for hasSession in [true, false] {
            let (store, jar, backend) = (FailingTokenStore(), CookieJar(), SimulatedBackend())
            if hasSession { _ = try await App.signedIn(backend, store: store) }
            store.isLocked = true
            let app = App(backend, store: store) { $0.cookies = jar }
            backend.beforeCall { _ in .status(200, headers: [.setCookie: "sid=1; Path=/"]) }
            _ = try await app.client.text(Visit("/public", .get, .none))
            store.isLocked = false
            await app.tokens.restore()
            _ = try await app.client.text(Visit("/public", .get, .none))
            #expect(app.transport.requests.last?.headers[.cookie] == "sid=1")
        }
    }

    @Test("C99: an interceptor's answer is no acceptance of the token") func interceptedAnswer() async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = nil }
        let app = try await App.signedIn(backend) {
            $0.interceptors = [ClosureInterceptor(onRespond: { _, _ in ServerResponse(status: 200, "fixed") })]
        }
        _ = try await app.client.text(Visit("/a"))
        #expect(app.tokens.inspect { $0.machine.session?.wasAccepted } == false)
    }

    @Test("C99: a stale answer replaces the failure of an unreachable server, but not a failed pin check")
    func failedPin() async throws {
        let failure = Locked<TransportError?>(nil)
        let app = CachingApp { request in
            if let failure = failure.withLock({ $0 }) { throw failure }
            return .counted(request, [.cacheControl: "max-age=0, stale-if-error=600", .eTag: "\"1\""])
        }
        #expect(try await app.client.text(Visit("/a")) == "1")
        for hidden in [TransportError.offline, .cannotConnect(""), .connectionLost(""), .timedOut] {
            failure.withLock { $0 = hidden }
            #expect(try await app.client.text(Visit("/a")) == "1")
        }
        for shown in [TransportError.tlsFailed("the pin"), .invalidResponse("")] {
            failure.withLock { $0 = shown }
            await #expect(throws: NetworkError.self) { try await app.client.text(Visit("/a")) }
        }
    }
}
