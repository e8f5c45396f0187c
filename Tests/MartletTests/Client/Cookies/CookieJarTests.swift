import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("The cookie jar of a session", .timeLimit(.minutes(10))) struct CookieJarTests {
    /// Each response sets the cookie `sid` to the number of its request.
    private static func app(
        gate: Gate? = nil, store: any TokenStore = .inMemory, _ configure: (inout NetworkConfig) -> Void = { _ in }
    ) -> App {
        let backend = SimulatedBackend()
        backend.beforeCall { request in
            if request.path == "/held", let gate { await gate.pass() }
            if request.path == "/login" {
                return .json(
                    #"{"accessToken":"access-9","refreshToken":"refresh-9"}"#,
                    headers: [.setCookie: "sid=login; Path=/"])
            }
            return .status(200, headers: [.setCookie: "\(request.path.dropFirst())=1; Path=/"])
        }
        return App(backend, store: store) {
            $0.cookies = CookieJar()
            configure(&$0)
        }
    }

    private static func cookies(of app: App) -> [String?] {
        app.transport.requests.filter { !$0.path.hasPrefix("/auth") }.map { $0.headers[.cookie] }
    }

    /// Holds the response to the login.
    private struct Holding: RequestInterceptor {
        let gate: Gate
        func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
            if context.endpoint.path.text == "/login" { await gate.pass() }
            return response
        }
    }

    @Test("the cookies of a sign-in that another process overtakes go to no session") func overtaken() async throws {
        let (disk, login) = (SimulatedDisk(time: ManualTimeSource()), Gate())
        let app = Self.app(store: disk.open("one")) { $0.interceptors = [Holding(gate: login)] }
        let other = App(store: disk.open("other"))
        await app.tokens.restore()
        let bob = Task { try await app.client.signIn(Visit("/login", .post), as: NoContent.self) }
        await login.waitForArrivals()
        let carol = try await other.tokens.signIn(with: .fresh())
        for await state in app.tokens.states where state == .signedIn(carol) { break }
        login.open()
        await #expect(throws: NetworkError.self) { try await bob.value }
        _ = try await app.client.text(Visit("/b", .get, .required))
        #expect(Self.cookies(of: app) == [nil, nil])
    }

    @Test("the cookie with the refresh token goes to the token endpoint only") func refreshToken() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport(time: time) { request in
            let cookies: HTTPFields = [
                .setCookie: "refresh_token=r\(request.number); Path=/; HttpOnly"
            ]
            switch request.path {
            case "/login", "/auth/refresh":
                return .json(#"{"accessToken":"a\#(request.number)","expiresIn":60}"#, headers: cookies)
            default: return .status(204, headers: [.setCookie: "theme=dark; Path=/"])
            }
        }
        var config = NetworkConfig()
        config.cookies = CookieJar()
        config.time = time
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .cookie(path: "/auth/refresh"),
            transport: transport, time: time)
        let client = NetworkClient(tokens: tokens, config: config)
        try await client.signIn(Visit("/login", .post), as: NoContent.self)
        _ = try await client.text(Visit("/a", .get, .required))
        time.advance(by: .seconds(61))
        _ = try await client.text(Visit("/b", .get, .required))
        #expect(transport.requests.map(\.path) == ["/login", "/a", "/auth/refresh", "/b"])
        #expect(
            transport.requests.map { $0.headers[.cookie] } == [nil, nil, "refresh_token=r1", "theme=dark"])
    }

    @Test("a TRACE carries neither cookies nor a token, and must not require one") func trace() async throws {
        let method = Locked(HTTPRequest.Method?.none)
        let app = Self.app {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, _ in
                    if let method = method.withLock({ $0 }) { request.method = method }
                })
            ]
        }
        try await app.tokens.signIn(with: app.backend.issue())
        _ = try await app.client.text(Visit("/a"))
        _ = try await app.client.text(Visit("/b", .trace))
        let refusal = await error { _ = try await app.client.text(Visit("/c", .trace, .required)) }
        guard case .invalidRequest = refusal else {
            Issue.record("a TRACE was sent although it required a token")
            return
        }
        method.withLock { $0 = .trace }
        _ = try await app.client.text(Visit("/d"))
        method.withLock { $0 = nil }
        _ = try await app.client.text(Visit("/e"))
        #expect(Self.cookies(of: app) == [nil, nil, nil, "a=1; b=1; d=1"])
        #expect(app.transport.requests.map(\.bearer) == ["access-1", nil, nil, "access-1"])
    }

    @Test("a redirect to another port carries the jar's cookies for the host, and no cookie of the request")
    func otherPort() async throws {
        let transport = StubTransport { request in
            switch request.path {
            case "/login": .status(204, headers: [.setCookie: "sid=1; Path=/"])
            case "/a": .status(302, headers: [.location: "https://api.example.com:8443/b"])
            default: .status(204)
            }
        }
        let client = client(transport) { $0.cookies = CookieJar() }
        _ = try await client.text(Visit("/login"))
        _ = try await client.text(Visit("/a", headers: [.cookie: "own=1"]))
        #expect(transport.requests.map { $0.headers[.cookie] } == [nil, "own=1; sid=1", "sid=1"])
    }

    @Test("without a jar no cookie is kept") func off() async throws {
        let app = Self.app { $0.cookies = nil }
        for _ in 1...2 { _ = try await app.client.text(Visit("/a")) }
        #expect(Self.cookies(of: app) == [nil, nil])
    }

    @Test("the cookies of a sign-in go to its session, and end with it") func signIn() async throws {
        let app = Self.app()
        _ = try await app.client.text(Visit("/csrf"))
        try await app.client.signIn(Visit("/login", .post), as: NoContent.self)
        _ = try await app.client.text(Visit("/a", .get, .required))
        _ = try await app.client.text(Visit("/b", .get, .none))
        await app.tokens.signOut()
        _ = try await app.client.text(Visit("/c"))
        #expect(Self.cookies(of: app) == [nil, "csrf=1", "csrf=1; sid=login", "csrf=1; sid=login; a=1", nil])
    }

    @Test("a sign-in over a session neither sends its cookies nor loses its own") func switched() async throws {
        let app = Self.app()
        try await app.tokens.signIn(with: app.backend.issue())
        _ = try await app.client.text(Visit("/a"))
        try await app.client.signIn(Visit("/login", .post), as: NoContent.self)
        _ = try await app.client.text(Visit("/b"))
        #expect(Self.cookies(of: app) == [nil, nil, "sid=login"])
    }

    @Test("a sign-in keeps its cookies if the session before it expires first") func expiredFirst() async throws {
        let (gate, app) = (Gate(), Self.app())
        let respond = StubTransport.Response.json(
            #"{"accessToken":"access-9","refreshToken":"refresh-9"}"#, headers: [.setCookie: "sid=login; Path=/"])
        app.backend.beforeCall { request in
            guard request.path == "/login" else { return .status(200) }
            await gate.pass()
            return respond
        }
        try await app.tokens.signIn(with: app.backend.issue())
        let signIn = Task { try await app.client.signIn(Visit("/login", .post), as: NoContent.self) }
        await gate.waitForArrivals()
        app.backend.revokeSession()
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        gate.open()
        _ = try await signIn.value
        _ = try await app.client.text(Visit("/b"))
        #expect(Self.cookies(of: app).last == "sid=login")
    }

    @Test("the cookies of a sign-in that begins before the store was read do not go to the stored session")
    func signInAtStart() async throws {
        let (store, reading, login) = (FailingTokenStore(), Gate(), Gate())
        try await store.write(StoredSession(id: SessionID(), tokens: .fresh()))
        store.hold(.read, at: reading)
        let app = Self.app(store: store) { $0.interceptors = [Holding(gate: login)] }
        let ada = Task { try await app.client.text(Visit("/a", .get, .required)) }
        let bob = Task { try await app.client.signIn(Visit("/login", .post), as: NoContent.self) }
        await login.waitForArrivals()
        reading.open()
        _ = try await ada.value
        login.open()
        _ = try await bob.value
        _ = try await app.client.text(Visit("/b", .get, .required))
        #expect(Self.cookies(of: app) == [nil, nil, "sid=login"])
    }

    @Test("a response that arrives after the sign-out sets no cookie") func late() async throws {
        let gate = Gate()
        let app = Self.app(gate: gate)
        try await app.tokens.signIn(with: app.backend.issue())
        let call = Task { try? await app.client.text(Visit("/held")) }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        _ = await call.value
        _ = try await app.client.text(Visit("/a"))
        try await app.tokens.signIn(with: app.backend.issue())
        _ = try await app.client.text(Visit("/b"))
        #expect(Self.cookies(of: app) == [nil, nil, "a=1"])
    }

    @Test("a sign-in that a sign-out has overtaken leaves no cookie to the next user") func discarded() async throws {
        let gate = Gate()
        let app = Self.app()
        app.backend.beforeCall { request in
            if request.path == "/login" { await gate.pass() }
            return .json(
                #"{"accessToken":"access-9","refreshToken":"refresh-9"}"#, headers: [.setCookie: "sid=1; Path=/"])
        }
        try await app.tokens.signIn(with: app.backend.issue())
        let signIn = Task { try? await app.client.signIn(Visit("/login", .post), as: NoContent.self) }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        _ = await signIn.value
        try await app.tokens.signIn(with: app.backend.issue())
        _ = try await app.client.text(Visit("/a"))
        #expect(Self.cookies(of: app).last == .some(nil))
    }

    @Test("the cookies of a restored session are its own, including those of its first call") func restored()
        async throws
    {
        let store = InMemoryTokenStore()
        let backend = SimulatedBackend()
        try await App(backend, store: store).tokens.signIn(with: backend.issue())
        backend.beforeCall { _ in .status(200, headers: [.setCookie: "sid=1; Path=/"]) }
        let app = App(backend, store: store) { $0.cookies = CookieJar() }
        for _ in 1...2 { _ = try await app.client.text(Visit("/a")) }
        await app.tokens.signOut()
        _ = try await app.client.text(Visit("/a"))
        #expect(Self.cookies(of: app) == [nil, "sid=1", nil])
    }

    @Test("each request of a redirect gets its own cookies") func redirected() async throws {
        let transport = StubTransport { request in
            switch request.path {
            case "/a": .status(302, headers: [.location: "/b", .setCookie: "b=1; Path=/b"])
            case "/b":
                .status(
                    307,
                    headers: [.location: "https://other.test/c", .setCookie: "other=1; Domain=other.test; Path=/"])
            case "/c": .status(302, headers: [.location: "https://api.example.com/d", .setCookie: "c=1; Path=/"])
            default: .status(200)
            }
        }
        let jar = CookieJar()
        let client = client(transport) { $0.cookies = jar }
        _ = try await client.text(Visit("/a", headers: [.cookie: "own=1"]))
        _ = try await client.text(Visit("https://other.test/"))
        #expect(transport.requests.map { $0.headers[.cookie] } == ["own=1", "own=1; b=1", nil, nil, "c=1"])
        jar.removeAll()
        _ = try await client.text(Visit("https://other.test/"))
        #expect(transport.requests.last?.headers[.cookie] == nil)
    }

    @Test("a cookie of the request itself wins over the jar's") func own() async throws {
        let app = Self.app()
        for path in ["/a", "/b"] { _ = try await app.client.text(Visit(path)) }
        _ = try await app.client.text(Visit("/c", headers: [.cookie: "a=own; x=y"]))
        #expect(Self.cookies(of: app).last == "a=own; x=y; b=1")
    }

    @Test("a response in the cache is for the cookies that its request had") func cached() async throws {
        let transport = StubTransport { request in
            request.path == "/set"
                ? .status(200, headers: [.setCookie: "sid=1; Path=/"])
                : .counted(request, [.cacheControl: "max-age=60"])
        }
        let client = client(transport) {
            ($0.cookies, $0.cache) = (CookieJar(), HTTPCache())
        }
        for _ in 1...2 { #expect(try await client.text(Visit("/a")) == "1") }
        _ = try await client.text(Visit("/set"))
        for _ in 1...2 { #expect(try await client.text(Visit("/a")) == "3") }
    }

    @Test("no log, curl command, description or dump shows the value of a cookie") func masked() async throws {
        let log = Log()
        let jar = CookieJar()
        let transport = StubTransport { request in
            .status(request.path == "/fail" ? 500 : 200, headers: [.setCookie: "sid=hunter2; Path=/"])
        }
        let client = client(transport) {
            $0.cookies = jar
            $0.retry = .never
            $0.observers = [.log(level: .debug) { _, line in log.add(line) }, .curl { log.add($0) }]
        }
        for _ in 1...2 { _ = try await client.text(Visit("/a")) }
        let failure = await error { _ = try await client.text(Visit("/fail")) }
        #expect(transport.requests.last?.headers[.cookie] == "sid=hunter2")
        var text = "\(log.lines) \(jar) \(client) \(try #require(failure))"
        for value in [jar, client, failure as Any] as [Any] { dump(value, to: &text) }
        #expect(!text.contains("hunter2"))
    }
}
