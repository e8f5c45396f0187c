import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The pipeline", .timeLimit(.minutes(10))) struct PipelineTests {
    @Test("hooks run in the documented order") func order() async throws {
        let log = Log()
        var config = NetworkConfig()
        config.interceptors = [LoggingInterceptor(log: log)]
        config.observers = [LoggingObserver(log: log)]
        let transport = StubTransport { request in
            log.add("network")
            return request.number == 1 ? .status(503) : .json(#"{"path":"/a","token":"none"}"#)
        }
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        let _: Echo = try await client.send(Get("/a", .none))
        #expect(
            log.lines == [
                "interceptor prepare", "observer start", "interceptor adapt", "observer attempt 1", "network",
                "observer received 503", "interceptor validate", "interceptor retry", "observer retry",
                "interceptor adapt", "observer attempt 2", "network", "observer received 200", "interceptor validate",
                "interceptor process", "observer finish",
            ])
    }

    @Test("changes made by adapt are undone before the next attempt") func adaptIsPerAttempt() async throws {
        /// Adds a field to each attempt, and retries twice.
        struct Adding: RequestInterceptor {
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                request.headerFields.append(HTTPField(name: .via, value: "\(context.attempt)"))
            }
            func retry(
                _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
            ) async -> RetryDecision { context.attempt < 3 ? .retry : .noOpinion }
        }
        let transport = StubTransport { _ in .status(418) }
        let client = client(transport) { $0.interceptors = [Adding()] }
        await #expect(throws: NetworkError.self) { try await client.send(Get("/a", .none)) }
        #expect(transport.requests.map { $0.headers[.via] } == ["1", "2", "3"])
    }

    @Test("an endpoint's header fields replace the client's, and its query is encoded") func building() async throws {
        struct Search: APIEndpoint {
            let path: RequestPath = "/search/über uns"
            let query: Query = ["q": "a+b&c", "page": 2, "none": nil]
            let headers: HTTPFields = [.accept: "text/plain", .acceptLanguage: "de"]
        }
        let transport = StubTransport { _ in .status(204) }
        let client = NetworkClient(
            baseURL: "https://api.example.com/v1/", config: config { $0.headers = [.acceptLanguage: "en", .via: "x"] },
            transport: transport)
        try await client.send(Search())
        let request = try #require(transport.requests.first)
        #expect(request.path == "/v1/search/%C3%BCber%20uns?q=a%2Bb%26c&page=2")
        #expect(request.headers[.acceptLanguage] == "de")
        #expect(request.headers[.accept] == "text/plain")
        #expect(request.headers[.via] == "x")
        #expect(request.request.authority == "api.example.com")
    }

    @Test(
        "an invalid base URL fails the first call, and nothing is sent",
        arguments: ["", "not a url", "ftp://example.com", "https://", "https://user:pw@example.com", "/v1"])
    func badBaseURL(text: String) async {
        let transport = StubTransport { _ in .status(204) }
        let client = NetworkClient(baseURL: BaseURL(text), transport: transport)
        let error = await #expect(throws: NetworkError.self) { try await client.send(Get("/a", .none)) }
        guard case .invalidRequest = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(transport.requests.isEmpty)
    }

    @Test("plain HTTP is sent to the loopback host only, unless allowed", arguments: [true, false])
    func insecure(isAllowed: Bool) async throws {
        let transport = StubTransport { _ in .status(204) }
        let open = NetworkClient(
            baseURL: "http://api.example.com",
            config: config {
                $0.allowsInsecureHTTP = isAllowed
                $0.time = ManualTimeSource()
            }, transport: transport)
        let failure = await error { try await open.send(Get("/a", .none)) }
        if isAllowed {
            #expect(failure == nil)
        } else {
            guard case .insecureURL = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
        let local = NetworkClient(
            baseURL: "http://127.0.0.1:8080", config: config { $0.time = ManualTimeSource() }, transport: transport)
        try await local.send(Get("/a", .none))
    }

    @Test(
        "a call that requires a token is not sent over plain HTTP without it, if the manager does not allow that",
        arguments: [AuthenticationRequirement.required, .ifSignedIn])
    func insecureToken(requirement: AuthenticationRequirement) async throws {
        let transport = StubTransport { _ in .status(204) }
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "http://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: time)
        try await tokens.signIn(with: Tokens(accessToken: "access", refreshToken: "refresh"))
        let client = NetworkClient(
            tokens: tokens,
            config: config {
                $0.allowsInsecureHTTP = true
                $0.time = time
            })
        let failure = await error { try await client.send(Get("/a", requirement)) }
        guard requirement == .required else {
            #expect(failure == nil)
            #expect(transport.requests.map(\.bearer) == [nil])
            return
        }
        guard case .insecureURL = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(
            failure?.explanation
                == "the URL is not secure, so nothing was sent there. Use https, or set allowsInsecureHTTP of "
                + "the TokenManager, or of the configuration of a client without one.")
        #expect(transport.requests.isEmpty)
    }

    @Test("C36: an absolute URL of a third party is called without a token") func thirdParty() async throws {
        let app = try await App.signedIn()
        _ = await error { try await app.client.send(Get("https://other.example.net/a", .ifSignedIn)) }
        let request = try #require(app.transport.requests.last)
        #expect(request.request.authority == "other.example.net")
        #expect(request.headers[.authorization] == nil)
    }

    @Test("a token is not sent to a host chosen by an interceptor", arguments: [true, false])
    func rerouted(inPrepare: Bool) async throws {
        /// Sends requests to another host.
        struct Rerouting: RequestInterceptor {
            let inPrepare: Bool
            func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                if inPrepare { request.authority = "staging.example.net" }
            }
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                if !inPrepare { request.authority = "staging.example.net" }
            }
        }
        let app = try await App.signedIn { $0.interceptors = [Rerouting(inPrepare: inPrepare)] }
        app.backend.invalidateAccessTokens()
        guard case .unauthorized = await app.call().error else {
            Issue.record("the other host's 401 should be the error")
            return
        }
        let request = try #require(app.transport.requests.last)
        #expect(request.request.authority == "staging.example.net")
        #expect(request.headers[.authorization] == nil)
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("C44: a refresh through the same transport does not refresh recursively") func noRecursion() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(4000))
        #expect(await app.call().isSuccess)
        let refresh = try #require(app.transport.requests(to: "/auth/refresh").first)
        #expect(refresh.headers[.authorization] == nil)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C37: a body that can be read only once is not replayed, and one made by a factory is")
    func bodies() async throws {
        struct Upload: APIEndpoint {
            let path: RequestPath = "/uploads"
            let method = HTTPRequest.Method.post
            let body: RequestBody?
        }
        let chunks = Chunks(chunks: [Data("one ".utf8), Data("two".utf8)])
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let failure = await error { try await app.client.send(Upload(body: .singleUse(chunks))) }
        guard case .bodyNotReplayable(_, let response) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(response?.status == 401)
        #expect(app.transport.requests(to: "/uploads").count == 1)

        app.backend.invalidateAccessTokens()
        let factory = RequestBody.stream(length: 7, contentType: "text/plain") { ByteStream(chunks) }
        try await app.client.send(Upload(body: factory))
        #expect(app.transport.requests(to: "/uploads").suffix(2).allSatisfy { $0.body == Data("one two".utf8) })
    }
}

/// Logs each hook that runs.
private struct LoggingInterceptor: RequestInterceptor {
    let log: Log
    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        log.add("interceptor prepare")
    }
    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        log.add("interceptor adapt")
    }
    func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
        log.add("interceptor validate")
    }
    func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        log.add("interceptor retry")
        return .retry
    }
    func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
        log.add("interceptor process")
        return response
    }
}

/// Logs each event that it observes.
private struct LoggingObserver: NetworkObserver {
    let log: Log

    func observe(_ event: CallEvent) {
        switch event {
        case .started: log.add("observer start")
        case .attemptStarted(let call): log.add("observer attempt \(call.attempt)")
        case .received(_, let response): log.add("observer received \(response.status)")
        case .retrying: log.add("observer retry")
        case .finished: log.add("observer finish")
        default: break
        }
    }
}
