import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Redirects", .timeLimit(.minutes(10))) struct RedirectTests {
    @Test(
        "C31: a redirect to another origin carries no secret", arguments: [301, 302, 303, 307, 308],
        [HTTPRequest.Method.get, .post])
    func crossOrigin(status: Int, method: HTTPRequest.Method) async throws {
        let transport = StubTransport { request in
            request.request.authority == "api.example.com"
                ? .status(status, headers: [.location: "https://other.example.net/b?c=d"]) : .status(204)
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: .fresh())
        let client = NetworkClient(
            tokens: tokens,
            config: config { $0.headers = [.cookie: "a=b", .acceptLanguage: "de", HTTPField.Name("X-Api-Key")!: "k"] })
        try await client.send(AnyCall(method: method))
        let last = try #require(transport.requests.last)
        #expect(last.request.authority == "other.example.net")
        #expect(last.path == "/b?c=d")
        #expect(last.headers[.authorization] == nil)
        #expect(last.headers[.cookie] == nil)
        #expect(last.headers[HTTPField.Name("X-Api-Key")!] == nil)
        #expect(last.headers[.acceptLanguage] == "de")
        #expect(transport.requests.first?.headers[.authorization] != nil)
    }

    @Test("C31: a `Host` that the endpoint sets does not go to another origin") func host() async throws {
        let transport = StubTransport { request in
            request.path == "/a" ? .status(302, headers: [.location: "https://other.example.net/b"]) : .status(204)
        }
        let name = try #require(HTTPField.Name("Host"))
        _ = try await client(transport).text(Visit("/a", headers: [name: "tenant.example"]))
        #expect(transport.requests.map { $0.headers[name] } == ["tenant.example", nil])
    }

    @Test("the error of a call that failed after a redirect names the origin of the redirect") func errorAfterRedirect()
        async throws
    {
        let transport = StubTransport { request in
            guard request.path == "/a" else { throw TransportError.cannotConnect("unknown host other.example.net") }
            return .status(302, headers: [.location: "https://other.example.net/b"])
        }
        let failure = await error { try await client(transport) { $0.retry = .never }.send(Get("/a", .none)) }
        #expect(
            failure?.explanation.contains(
                "(unknown host other.example.net, after a redirect to https://other.example.net)") == true)
        let insecure = StubTransport { _ in .status(302, headers: [.location: "http://other.example.net/b"]) }
        let refusal = await error { try await client(insecure).send(Get("/a", .none)) }
        #expect(
            refusal?.explanation.hasPrefix("the server redirected to http://other.example.net/b, which is not secure")
                == true)
    }

    private struct Watch: NetworkObserver {
        let log: Log

        func observe(_ event: CallEvent) {
            switch event {
            case .attemptStarted(let call), .redirected(let call, _):
                for field in call.request.headerFields { log.add("\(field.name): \(field.value)") }
            default: break
            }
        }
    }

    @Test("C31: a session id in a header field follows no redirect to another origin, and no observer sees it")
    func sessionID() async throws {
        let id = "0123456789abcdef0123456789abcdef"
        let name = try #require(HTTPField.Name("X-Session-Id"))
        let transport = StubTransport { request in
            request.path == "/a" ? .status(307, headers: [.location: "https://other.example.net/b"]) : .status(204)
        }
        let log = Log()
        let client = client(transport) {
            $0.observers = [
                Watch(log: log), LogObserver(level: .debug) { log.add("\($0)") }, .curl { log.add($0) },
            ]
        }
        _ = try await client.text(Visit("/a", headers: [name: id]))
        #expect(transport.requests.map { $0.headers[name] } == [id, nil])
        #expect(log.lines.contains { $0.lowercased().contains("x-session-id") })
        #expect(!log.lines.contains { $0.contains(id) })
    }

    @Test(
        "C31: the session's token in another field follows no redirect to another origin, and no observer sees it",
        arguments: [AuthenticationRequirement.required, .none], [true, false])
    func tokenElsewhere(requirement: AuthenticationRequirement, isObserved: Bool) async throws {
        let name = try #require(HTTPField.Name("X-Ticket"))
        let transport = StubTransport { request in
            request.path == "/a" ? .status(307, headers: [.location: "https://other.example.net/b"]) : .status(204)
        }
        let log = Log()
        let tokens = await TokenManager.signedIn(
            with: Tokens(accessToken: "tok-7Fa9", refreshToken: "r", lifetime: .seconds(3600)), transport: transport,
            time: ManualTimeSource())
        let client = NetworkClient(
            tokens: tokens,
            config: config {
                guard isObserved else { return }
                $0.observers = [
                    Watch(log: log), LogObserver(level: .debug) { log.add("\($0)") }, .curl { log.add($0) },
                ]
            })
        _ = try await client.text(Visit("/a", headers: [name: "tok-7Fa9"], requirement))
        #expect(transport.requests.map { $0.headers[name] } == ["tok-7Fa9", nil])
        #expect(isObserved == !log.lines.isEmpty)
        #expect(!log.lines.contains { $0.contains("tok-7Fa9") })
    }

    @Test(
        "C31: a redirect that changes only the scheme or the port leads to another origin",
        arguments: [
            ("https://api.example.com", "https://api.example.com:8443/b"),
            ("https://api.example.com:8443", "https://api.example.com/b"),
            ("http://127.0.0.1:8080", "https://127.0.0.1:8080/b"),
        ])
    func otherPort(base: String, target: String) async throws {
        let transport = StubTransport { $0.path == "/b" ? .status(204) : .status(307, headers: [.location: target]) }
        let tokens = TokenManager(
            baseURL: BaseURL(base), store: .inMemory, refresher: .json(path: "/auth/refresh"), transport: transport,
            time: ManualTimeSource())
        try await tokens.signIn(with: .fresh())
        try await NetworkClient(tokens: tokens).send(Get("/a"))
        #expect(transport.requests.map { $0.headers[.authorization] != nil } == [true, false])
    }

    @Test("a redirect is not followed after the session of the call has ended") func afterSignOut() async throws {
        let holder = Locked<TokenManager?>(nil)
        let transport = StubTransport { request in
            guard request.path == "/a" else { return .status(204) }
            await holder.withLock { $0 }?.signOut()
            return .status(307, headers: [.location: "/b"])
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        holder.withLock { $0 = tokens }
        try await tokens.signIn(with: .fresh())
        let failure = await error { try await NetworkClient(tokens: tokens).send(Get("/a")) }
        guard case .sessionChanged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.requests.map(\.path) == ["/a"])
    }

    @Test("C31: a 401 from another origin does not start a refresh") func crossOrigin401() async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { request in
            request.request.authority == "api.example.com"
                ? .status(302, headers: [.location: "https://other.example.net/"]) : .status(401)
        }
        guard case .unauthorized = await app.call().error else {
            Issue.record("the 401 should be the error")
            return
        }
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("C32: a redirect within the origin keeps the token") func sameOrigin() async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { $0.path == "/old" ? .status(302, headers: [.location: "new?x=1"]) : nil }
        #expect(await app.call("/old").isSuccess)
        #expect(app.transport.requests.last?.path == "/new?x=1")
        #expect(app.transport.requests.last?.bearer == "access-1")
    }

    @Test("C33: a redirect from https to http is refused") func downgrade() async throws {
        let transport = StubTransport { _ in .status(301, headers: [.location: "http://api.example.com/a"]) }
        let failure = await error { try await client(transport) { $0.retry = .never }.send(Get("/a", .none)) }
        guard case .insecureURL = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.requests.count == 1)
    }

    @Test(
        "after a redirect that must not be followed, the user is told that a POST may have gone through",
        arguments: [true, false])
    func performed(isInsecure: Bool) async throws {
        let transport = StubTransport { request in
            guard request.path == "/a" else { return .failure(.tlsFailed("expired")) }
            return .status(
                303, headers: [.location: isInsecure ? "http://api.example.com/b" : "https://cdn.example.net/b"])
        }
        let post = try #require(
            await error { try await client(transport).send(AnyCall(method: .post)) })
        #expect(UserText.Language.$override.withValue(.english) { post.userText }.contains("may have gone through"))
        let get = try #require(await error { try await client(transport).send(AnyCall(method: .get)) })
        #expect(UserText.Language.$override.withValue(.english) { get.userText }.contains("Nothing was sent"))
    }

    @Test(
        "the method and the body of a redirected request follow the status",
        arguments: [(301, true), (302, true), (303, true), (307, false), (308, false)])
    func methods(status: Int, becomesGet: Bool) async throws {
        let transport = StubTransport { $0.path == "/a" ? .status(status, headers: [.location: "/b"]) : .status(204) }
        try await client(transport).send(AnyCall(method: .post))
        let last = try #require(transport.requests.last)
        #expect(last.method == (becomesGet ? .get : .post))
        #expect(last.body == (becomesGet ? Data() : Data("body".utf8)))
        #expect((last.headers[.contentType] == nil) == becomesGet)
    }

    @Test(
        "301 and 302 change no method but POST, and keep the body", arguments: [301, 302],
        [HTTPRequest.Method.put, .patch, .delete])
    func keptMethods(status: Int, method: HTTPRequest.Method) async throws {
        let transport = StubTransport { $0.path == "/a" ? .status(status, headers: [.location: "/b"]) : .status(204) }
        try await client(transport).send(Call<NoContent>(method, "/a", body: .text("body")))
        let last = try #require(transport.requests.last)
        #expect(last.path == "/b" && last.method == method && last.text == "body")
        #expect(last.headers[.contentType] != nil)
    }

    @Test("a redirected HEAD stays a HEAD", arguments: [301, 302, 303, 307, 308])
    func head(status: Int) async throws {
        let transport = StubTransport { $0.path == "/a" ? .status(status, headers: [.location: "/b"]) : .status(204) }
        try await client(transport).send(Call<NoContent>(.head, "/a"))
        #expect(transport.requests.map(\.description) == ["HEAD /a", "HEAD /b"])
    }

    @Test("a single-use body is not sent to a second location") func singleUse() async throws {
        struct Upload: APIEndpoint {
            let path: RequestPath = "/a"
            let method = HTTPRequest.Method.post
            let body: RequestBody? = .singleUse(Chunks(chunks: [Data("body".utf8)]))
        }
        let transport = StubTransport { _ in .status(307, headers: [.location: "/b"]) }
        let failure = await error { try await client(transport).send(Upload()) }
        guard case .bodyNotReplayable(_, let response) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(response?.status == 307)
    }

    @Test("no more redirects are followed than the limit allows") func limit() async throws {
        let transport = StubTransport { _ in .status(302, headers: [.location: "/a"]) }
        let failure = await error {
            try await client(transport) { $0.maximumRedirects = 3 }.send(Get("/a", .none))
        }
        guard case .tooManyRedirects(_, 3) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.requests.count == 4)
        let response = try await client(transport) { $0.maximumRedirects = 0 }.data(for: Any3xx())
        #expect(response.status == 302)
    }

    @Test(
        "a relative location is resolved according to RFC 3986",
        arguments: [
            ("/b", "/b"), ("b", "/x/b"), ("../b", "/b"), ("./b?c", "/x/b?c"), ("?q=1", "/x/a?q=1"),
            ("//api.example.com/c", "/c"), ("https://api.example.com", "/"), ("/../../etc", "/etc"), ("/b#frag", "/b"),
            ("/ä b", nil), ("/ä", "/%C3%A4"), ("/!~", "/!~"), ("/files/a%20b[1].pdf", "/files/a%20b%5B1%5D.pdf"),
            ("/search?filter[name]=a%20b", "/search?filter%5Bname%5D=a%20b"), ("/100%?q=%41%", "/100%25?q=%41%25"),
        ] as [(String, String?)])
    func relative(location: String, expected: String?) async throws {
        let transport = StubTransport {
            $0.number == 1
                ? StubTransport.Response(302, headers: HTTPFields([HTTPField(name: .location, value: location)]))
                : .status(204)
        }
        let failure = await error { try await client(transport).send(Get("/x/a", .none)) }
        if let expected {
            #expect(failure == nil)
            #expect(transport.requests.last?.path == expected)
        } else {
            #expect(failure != nil)
        }
    }
}

private struct AnyCall: APIEndpoint {
    let path: RequestPath = "/a"
    let method: HTTPRequest.Method
    var body: RequestBody? { method == .post ? .text("body") : nil }
}

private struct Any3xx: APIEndpoint {
    let path: RequestPath = "/a"
    let acceptableStatuses = StatusCodes(200..<400)
}
