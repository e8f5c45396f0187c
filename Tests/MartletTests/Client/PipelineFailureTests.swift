import Foundation
import MartletJSON
import MartletTesting
import Testing

@testable import Martlet

@Suite("A failing pipeline", .timeLimit(.minutes(10))) struct PipelineFailureTests {
    @Test("every start event has exactly one end event") func observers() async throws {
        struct Refusing: RequestInterceptor {
            func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                throw InvalidRequestError("no")
            }
        }
        let refused = Log()
        _ = await error {
            try await client(StubTransport { _ in .status(204) }) {
                $0.observers = [Watch(log: refused)]
                $0.interceptors = [Refusing()]
            }.send(Get("/a", .none))
        }
        #expect(refused.lines == ["start", "finish"])

        let unsigned = Log()
        let app = App { $0.observers = [Watch(log: unsigned)] }
        let failure = await app.call().error
        #expect(unsigned.lines == ["start", "finish"])
        #expect(failure?.call.attempts == 0)

        let rejected = Log()
        _ = await error {
            try await client(StubTransport { _ in .status(404) }) { $0.observers = [Watch(log: rejected)] }
                .send(Get("/a", .none))
        }
        #expect(rejected.lines == ["start", "attempt", "received", "finish"])
    }

    @Test("a transport's own error is passed on") func strayError() async throws {
        struct Odd: Error {}
        let failure = await error { try await client(StubTransport { _ in throw Odd() }).send(Get("/a", .none)) }
        guard case .transport(_, is Odd) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a missing file is named in the description, and the user learns that the file cannot be read")
    func missingFile() async throws {
        let transport = StubTransport { _ in .status(204) }
        let thrown = await error {
            try await client(transport).send(Post("/films", .file(at: "/nowhere/film.mp4")))
        }
        let failure = try #require(thrown)
        guard case .unreadableFile(_, let path, _) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(path == "/nowhere/film.mp4" && transport.requests.isEmpty)
        #expect(failure.explanation.hasPrefix(#"a file cannot be sent. There is nothing at "/nowhere/film.mp4"."#))
        let shown = UserText.Language.$override.withValue(.english) { failure.localizedDescription }
        #expect(shown == "The file cannot be read. Choose it again, or choose another one.")
        #expect(!shown.contains("went wrong"))
    }

    @Test("a single-use body does not hide why the connection failed") func singleUseRefused() async throws {
        struct Put: APIEndpoint {
            let path: RequestPath = "/a"
            let method = HTTPRequest.Method.put
            let body: RequestBody? = .singleUse(Chunks(chunks: [Data("x".utf8)]))
        }
        let transport = StubTransport { _ in throw TransportError.cannotConnect("refused") }
        let failure = await error {
            try await client(transport) { $0.retry = RetryPolicy(firstDelay: .zero) }.send(Put())
        }
        guard case .cannotConnect = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a refresher that sends through the same limited client does not deadlock", .timeLimit(.minutes(10)))
    func refresherThroughLimitedClient() async throws {
        let holder = Locked<NetworkClient?>(nil)
        let transport = StubTransport { request in
            request.path == "/renew"
                ? .json(#"{"accessToken":"new","refreshToken":"next"}"#) : .json(#"{"path":"x","token":"seen"}"#)
        }
        let refresher: HTTPTokenRefresher = .custom { _, _ in
            let client = holder.withLock { $0 }
            _ = try await client?.data(for: Get("/renew", .none))
            return Tokens(accessToken: "new", refreshToken: "next")
        }
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: refresher, transport: transport, time: time
        )
        let client = NetworkClient(tokens: tokens, config: config { $0.maximumConcurrentRequests = 1 })
        holder.withLock { $0 = client }
        try await tokens.signIn(with: .fresh(lifetime: .seconds(60)))
        time.advance(by: .seconds(61))
        let echo: Echo = try await client.send(Get("/me"))
        #expect(echo.token == "seen")
        holder.withLock { $0 = nil }
    }

    @Test("an interceptor cannot downgrade a request to plain HTTP") func reroutedToPlainHTTP() async throws {
        struct Downgrading: RequestInterceptor {
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                request.scheme = "http"
            }
        }
        let transport = StubTransport { _ in .status(204) }
        let failure = await error {
            try await client(transport) { $0.interceptors = [Downgrading()] }.send(Get("/a", .none))
        }
        guard case .insecureURL = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.requests.isEmpty)
    }

    @Test(
        "a call without a response type accepts any body, with or without an envelope",
        arguments: ["OK", "[1]", "\n", "{}"])
    func unreadBody(body: String) async throws {
        let transport = StubTransport { _ in StubTransport.Response(200, body: Data(body.utf8)) }
        try await client(transport) { $0.envelope = ResponseEnvelope() }.send(Get("/a", .none))
    }

    @Test(
        "a refusal in an envelope is recognized under any key decoding strategy") func snakeCaseEnvelope() async throws
    {
        let transport = StubTransport { _ in .json(#"{"is_ok":false,"code":"E","message":"no","data":null}"#) }
        let snakeCase = JSONDecoder.martlet
        snakeCase.keyDecodingStrategy = .convertFromSnakeCase
        let client = client(transport) {
            $0.envelope = ResponseEnvelope(success: "is_ok")
            $0.decoder = snakeCase
        }
        guard case .api = await error({ try await client.send(Get("/a", .none)) }) else {
            Issue.record("a refusal was taken for a success")
            return
        }
    }

    @Test("the value of an envelope is found under any key decoding strategy") func snakeCaseValue() async throws {
        struct User: Decodable, Sendable { var firstName: String }
        let transport = StubTransport { _ in .json(#"{"is_ok":true,"result_data":{"first_name":"Ada"}}"#) }
        let snakeCase = JSONDecoder.martlet
        snakeCase.keyDecodingStrategy = .convertFromSnakeCase
        var fast = MartletJSONDecoder()
        fast.keyDecodingStrategy = .convertFromSnakeCase
        for decoder in [snakeCase, fast] as [any ResponseDecoder] {
            let client = client(transport) {
                $0.envelope = ResponseEnvelope(success: "is_ok", data: "result_data")
                $0.decoder = decoder
            }
            let user: User = try await client.send(Get("/a", .none))
            #expect(user.firstName == "Ada")
            let optional: User? = try await client.send(Get("/a", .none))
            #expect(optional?.firstName == "Ada")
        }
    }

    @Test("a server's code and request ID may be numbers") func numbers() async throws {
        let envelope = StubTransport { _ in
            .json(#"{"success":false,"code":4001,"message":"taken","meta":{"requestId":77}}"#, status: 409)
        }
        let problem = StubTransport { _ in
            .json(
                #"{"type":"about:blank","code":4001,"detail":"taken","requestId":77}"#, status: 409,
                headers: [.contentType: "application/problem+json"])
        }
        for (transport, format) in [(envelope, ResponseEnvelope()), (problem, nil)] {
            let client = client(transport) { $0.envelope = format }
            guard case .api(_, let error) = await error({ try await client.send(Get("/a", .none)) }) else {
                Issue.record("it is no error of the server")
                return
            }
            #expect(error.code == "4001" && error.requestID == "77")
        }
    }
}

/// Logs the start and the end of each call and attempt.
private struct Watch: NetworkObserver {
    let log: Log

    func observe(_ event: CallEvent) {
        switch event {
        case .started: log.add("start")
        case .attemptStarted: log.add("attempt")
        case .received: log.add("received")
        case .attemptFailed: log.add("failed")
        case .finished: log.add("finish")
        default: break
        }
    }
}
