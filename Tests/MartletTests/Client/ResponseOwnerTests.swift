import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("The owner of what a response leaves behind", .timeLimit(.minutes(10))) struct ResponseOwnerTests {
    // MARK: - Streams that reconnect

    /// A server of events whose first connection breaks when the test opens a gate. A call to `/login` sets a cookie.
    private struct News {
        let gate = Gate()
        let jar = CookieJar()

        func respond(to request: StubTransport.Request, connection: Int) -> StubTransport.Response {
            guard request.path == "/news" else { return .status(200, headers: [.setCookie: "sid=B; Path=/"]) }
            let stream = ByteStream { [gate] in
                var isFirst = true
                return {
                    defer { isFirst = false }
                    if isFirst { return Data("data: \(connection)\n\n".utf8) }
                    await gate.pass()
                    throw TransportError.connectionLost("reset by peer")
                }
            }
            return StubTransport.Response(200, headers: [.contentType: "text/event-stream"], stream: stream)
        }

        /// Listens until the second connection has sent its event.
        func listen(with client: NetworkClient, _ time: ManualTimeSource, change: () async throws -> Void) async throws
        {
            let isDone = Locked(false)
            let reading = Task {
                defer { isDone.withLock { $0 = true } }
                for try await event in client.serverSentEvents(from: Get("/news", .none)) where event.data == "2" {
                    return
                }
            }
            await gate.waitForArrivals()
            try await change()
            gate.open()
            while !isDone.withLock({ $0 }) {
                time.advance(by: .seconds(1))
                await Task.yield()
            }
            try await reading.value
        }
    }

    @Test("C93: an event stream that reconnects after removeAll() sends no cookie of the next user")
    func reconnectAfterRemoval() async throws {
        let (news, time, count) = (News(), ManualTimeSource(), Locked(0))
        let transport = StubTransport { request in
            news.respond(to: request, connection: request.path == "/news" ? count.increment() : 0)
        }
        let client = client(transport) {
            ($0.cookies, $0.time, $0.timeout) = (news.jar, time, .seconds(1 << 30))
        }
        try await news.listen(with: client, time) {
            news.jar.removeAll()
            _ = try await client.text(Visit("/login"))
        }
        #expect(transport.requests(to: "/news").map { $0.headers[.cookie] } == [nil, nil])
        _ = try await client.text(Visit("/other"))
        #expect(transport.requests.last?.headers[.cookie] == "sid=B")
    }

    @Test("C93: an event stream without a token that reconnects under the next user sends none of that user's cookies")
    func reconnectUnderNextUser() async throws {
        let (news, count) = (News(), Locked(0))
        let backend = SimulatedBackend()
        backend.beforeCall { request in
            news.respond(to: request, connection: request.path == "/news" ? count.increment() : 0)
        }
        let app = try await App.signedIn(backend) { ($0.cookies, $0.timeout) = (news.jar, .seconds(1 << 30)) }
        try await news.listen(with: app.client, app.time) {
            try await app.tokens.signIn(with: backend.issue())
            _ = try await app.client.text(Visit("/login", .get, .none))
        }
        #expect(app.transport.requests(to: "/news").map { $0.headers[.cookie] } == [nil, nil])
    }

    // MARK: - Ends

    @Test("a sign-in removes a guest's responses at once, and leaves no end to wait for") func guestResponses()
        async throws
    {
        let cache = HTTPCache()
        let backend = SimulatedBackend()
        backend.beforeCall { .counted($0, [.cacheControl: "max-age=60"]) }
        let app = App(backend) { $0.cache = cache }
        for _ in 1...5 {
            _ = try await app.client.text(Visit("/a"))
            #expect(!cache.withStore { $0.isEmpty })
            try await app.tokens.signIn(with: backend.issue())
            #expect(cache.withStore { $0.isEmpty })
            await app.tokens.signOut()
        }
        #expect(app.tokens.inspect { $0.endings.count } == 0)
    }

    @Test("a call without a session goes on when a user signs in") func guestCall() async throws {
        let app = App()
        await app.tokens.signOut()
        let hasEnded = Locked(false)
        let cancel = app.tokens.onEnd(of: app.tokens.currentOwner) { hasEnded.withLock { $0 = true } }
        try await app.tokens.signIn(with: app.backend.issue())
        #expect(!hasEnded.withLock { $0 } && app.tokens.inspect { $0.endings.count } == 1)
        cancel()
        #expect(app.tokens.inspect { $0.endings.count } == 0)
    }

    @Test("a user who signs in again goes on with what the earlier sessions have begun, and no other user does")
    func departures() async throws {
        let app = App()
        let departures = Locked<[Int]>([])
        let cancel = app.tokens.onDeparture { sessions in departures.withLock { $0.append(sessions.count) } }
        func signIn(_ user: String) async throws {
            try await app.tokens.signIn(with: app.backend.issue(), account: SessionAccount(userID: user))
        }
        await app.tokens.restore()
        // The store had not been read at first.
        try await signIn("ada")
        #expect(departures.withLock { $0 } == [0])
        try await signIn("ada")
        app.backend.beforeRefresh { _ in .status(401) }
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        try await signIn("ada")
        #expect(departures.withLock { $0 } == [0])
        try await signIn("bob")
        #expect(departures.withLock { $0 } == [0, 3])
        await app.tokens.signOut()
        #expect(departures.withLock { $0 } == [0, 3, 1])
        // An empty ID names no user.
        try await signIn("")
        try await signIn("")
        #expect(departures.withLock { $0 } == [0, 3, 1, 1])
        cancel()
        await app.tokens.signOut()
        #expect(departures.withLock { $0.count } == 4)
    }

    // MARK: - Cookies

    @Test("a late call of an expired session does not take a guest's cookies with it") func lateCall() async throws {
        let jar = CookieJar()
        let app = try await App.signedIn { $0.cookies = jar }
        app.backend.beforeCall { _ in .status(200, headers: [.setCookie: "guest=1; Path=/"]) }
        let owner = try #require(app.client.pipeline.responseOwner(for: app.tokens.currentOwner))
        app.backend.beforeRefresh { _ in .status(401) }
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        _ = try await app.client.text(Visit("/a", .get, .none))
        _ = CallCookies(jar, app.client.pipeline.responseStorage, owner, time: app.time)
        _ = try await app.client.text(Visit("/b", .get, .none))
        #expect(app.transport.requests(to: "/b").map { $0.headers[.cookie] } == ["guest=1"])
    }

    @Test("the cookies of a session end with it, even if another manager has found it in the store")
    func replacedManager()
        async throws
    {
        let (jar, store, backend) = (CookieJar(), InMemoryTokenStore(), SimulatedBackend())
        backend.beforeCall { _ in .status(200, headers: [.setCookie: "sid=1; Path=/"]) }
        let former = App(backend, store: store) { $0.cookies = jar }
        try await former.tokens.signIn(with: backend.issue())
        _ = try await former.client.text(Visit("/a"))
        let app = App(backend, store: store) { $0.cookies = jar }
        _ = try await app.client.text(Visit("/b"))
        #expect(app.transport.requests(to: "/b").map { $0.headers[.cookie] } == ["sid=1"])
        await app.tokens.signOut()
        #expect(jar.withStore { $0.isEmpty })
    }

    @Test("a session whose manager was released leaves no cookies when the next one begins") func releasedManager()
        throws
    {
        let origin = try #require(Origin("https://api.example.com"))
        let sid = Cookie("sid=1; Path=/", from: origin, path: "/", at: CookieMoment(ManualTimeSource()))
        var store = CookieStore()
        let (former, next) = (SessionID(rawValue: "A"), SessionID(rawValue: "B"))
        var follower = store.begin(former, of: 1, epoch: 1)
        #expect(follower != nil)
        store.insert(try #require(sid), in: .session(former))
        #expect(store.begin(former, of: 1, epoch: 1) == nil)
        let other = store.begin(next, of: 2, epoch: 1)
        #expect(!store.isEmpty)
        follower = nil
        _ = store.begin(SessionID(rawValue: "C"), of: 3, epoch: 1)
        #expect(store.isEmpty && follower == nil)
        withExtendedLifetime(other) {}
    }

    private struct JarWriter: NetworkObserver {
        let write: @Sendable () -> Void

        func observe(_ event: CallEvent) {
            if case .attemptStarted = event { write() }
        }
    }

    @Test("C94: a response is stored under the cookies that its request had, even if they change before it is sent")
    func changedCookies() async throws {
        let (jar, time) = (CookieJar(), ManualTimeSource())
        let origin = try #require(Origin("https://api.example.com"))
        let transport = StubTransport { .counted($0, [.cacheControl: "max-age=60"]) }
        let client = client(transport) {
            ($0.cookies, $0.cache, $0.time) = (jar, HTTPCache(), time)
            $0.observers = [
                JarWriter {
                    let cookie = Cookie("sid=B; Path=/", from: origin, path: "/", at: CookieMoment(time))
                    jar.withStore { store in
                        if let cookie { store.insert(cookie, in: .guest(nil, epoch: -1)) }
                    }
                }
            ]
        }
        #expect(try await client.text(Visit("/a")) == "1")
        #expect(try await client.text(Visit("/a")) == "2")
        #expect(try await client.text(Visit("/a")) == "2")
        #expect(transport.requests.map { $0.headers[.cookie] } == [nil, "sid=B"])
    }

    // MARK: - Slots

    private struct ReservingTransport: DeadlineTransport {
        let inner: StubTransport
        var reservePerConnection: Int { 1 }

        func parallelRequests(to origin: Origin) -> Int? { 2 }

        func exchange(
            _ request: HTTPRequest, body: Data?, upTo maximumCount: Int, within limit: Duration
        ) async throws -> TransportResponse {
            let response = try await inner.send(request, body: body.map { OutgoingBody($0) })
            return TransportResponse(
                head: response.head, body: .bytes(try await response.body.collect(upTo: maximumCount)))
        }

        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            try await inner.send(request, body: body)
        }
    }

    @Test("C99: a stale answer does not let more requests into the reserve, as a response of the server does")
    func staleResponse() async throws {
        let (gate, isDown) = (Gate(), Locked(false))
        let stub = StubTransport { request in
            if request.path == "/held" { await gate.pass() }
            if isDown.withLock({ $0 }) { return .status(503) }
            return .counted(request, [.cacheControl: "max-age=0, stale-if-error=600", .eTag: "\"1\""])
        }
        let client = client(ReservingTransport(inner: stub)) {
            ($0.cache, $0.time, $0.retry) = (HTTPCache(), ManualTimeSource(), .never)
        }
        let slots = client.pipeline.slots
        let short = ConcurrencyLimiter.Claim(
            origin: try #require(Origin("https://api.example.com")), isLasting: false)
        /// The number of requests that would get a slot now.
        func free() -> Int {
            var count = 0
            while slots.take(short) { count += 1 }
            for _ in 0..<count { slots.release(short) }
            return count
        }
        let held = Task { try await client.text(Visit("/held")) }
        await gate.waitForArrivals()
        _ = try await client.text(Visit("/a"))
        #expect(free() == 3)
        isDown.withLock { $0 = true }
        _ = try await client.text(Visit("/a"))
        #expect(free() == 1)
        gate.open()
        _ = try? await held.value
    }
}

extension Locked<Int> {
    fileprivate func increment() -> Int {
        withLock { count in
            count += 1
            return count
        }
    }
}
