import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The pipeline") struct PipelineTests {
    @Test("hooks come in the documented order") func order() async throws {
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
                "observer finish", "interceptor process",
            ])
    }

    @Test("what adapt does to a request is undone before the next attempt") func adaptIsPerAttempt() async throws {
        struct Adding: RequestInterceptor {
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                request.headerFields.append(HTTPField(name: .via, value: "\(context.attempt)"))
            }
            func retry(
                _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
            ) async -> RetryDecision { context.attempt < 3 ? .retry : .doNotRetry }
        }
        let transport = StubTransport { _ in .status(418) }
        let client = client(transport) { $0.interceptors = [Adding()] }
        await #expect(throws: NetworkError.self) { try await client.send(Get("/a", .none)) }
        #expect(transport.requests.map { $0.headers[.via] } == ["1", "2", "3"])
    }

    @Test("an endpoint's fields replace the client's, and its query is encoded") func building() async throws {
        struct Search: APIEndpoint {
            let path = "/search/über uns"
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
        "a base URL that is no good is an error of the first call, and nothing is sent",
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

    @Test("plain http goes to this machine only, unless allowed", arguments: [true, false])
    func insecure(isAllowed: Bool) async throws {
        let transport = StubTransport { _ in .status(204) }
        let open = NetworkClient(
            baseURL: "http://api.example.com", config: config { $0.allowsInsecureHTTP = isAllowed },
            transport: transport)
        let failure = await error { try await open.send(Get("/a", .none)) }
        if isAllowed {
            #expect(failure == nil)
        } else {
            guard case .insecureURL = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
        let local = NetworkClient(baseURL: "http://127.0.0.1:8080", transport: transport)
        try await local.send(Get("/a", .none))
    }

    @Test("C36: an absolute URL of a third party is called without a token") func thirdParty() async throws {
        let app = try await App.signedIn()
        _ = await error { try await app.client.send(Get("https://other.example.net/a", .ifSignedIn)) }
        let request = try #require(app.transport.requests.last)
        #expect(request.request.authority == "other.example.net")
        #expect(request.headers[.authorization] == nil)
    }

    @Test("a token does not follow where an interceptor sends the request", arguments: [true, false])
    func rerouted(inPrepare: Bool) async throws {
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
            Issue.record("the other place's 401 should be the error")
            return
        }
        let request = try #require(app.transport.requests.last)
        #expect(request.request.authority == "staging.example.net")
        #expect(request.headers[.authorization] == nil)
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("a replay is not sent once its user has signed out") func signedOutBeforeReplay() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let client = NetworkClient(
            baseURL: "https://api.example.com",
            config: config {
                $0.interceptors = [
                    SigningOutBeforeReplay(tokens: app.tokens), AuthenticationInterceptor(tokens: app.tokens),
                ]
            }, transport: app.transport)
        let failure = await error { let _: Echo = try await client.send(Get("/me", .ifSignedIn)) }
        guard case .sessionChanged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(app.transport.requests(to: "/me").count == 1)
    }

    @Test("an attempt that takes too long is a timeout, whatever the transport does") func timeout() async throws {
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
            Issue.record("a timeout was expected")
            return
        }
        gate.open()
    }

    @Test("a cancelled call returns while the transport is still at it") func cancellation() async throws {
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

    @Test("no more requests are under way at an origin than allowed") func concurrencyLimit() async throws {
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
        let client = client(transport) { $0.maxConcurrentRequests = 4 }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { _ = await error { try await client.send(Get("/a", .none)) } } }
            await gate.waitForArrivals(4)
            gate.open()
        }
        #expect(running.withLock { $0.most } == 4)
        #expect(transport.requests.count == 40)
    }

    @Test("C45: the refresh does not wait in line with those that wait for it") func refreshBypassesLimit() async throws
    {
        let app = try await App.signedIn { $0.maxConcurrentRequests = 4 }
        app.backend.invalidateAccessTokens()
        #expect(await app.burst(40).allSucceeded)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C44: a refresh through the same transport does not call for itself") func noRecursion() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(4000))
        #expect(await app.call().isSuccess)
        let refresh = try #require(app.transport.requests(to: "/auth/refresh").first)
        #expect(refresh.headers[.authorization] == nil)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C37: a one-shot body is not sent again empty; a factory's is sent again whole") func bodies() async throws {
        struct Upload: APIEndpoint {
            let path = "/uploads"
            let method = HTTPRequest.Method.post
            let body: RequestBody?
        }
        let chunks = Chunks(chunks: [Data("one ".utf8), Data("two".utf8)])
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let failure = await error { try await app.client.send(Upload(body: .oneShot(chunks))) }
        guard case .bodyNotReplayable(_, let answer) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(answer?.status == 401)
        #expect(app.transport.requests(to: "/uploads").count == 1)

        app.backend.invalidateAccessTokens()
        let factory = RequestBody.stream(length: 7, contentType: "text/plain") { ByteStream(chunks) }
        try await app.client.send(Upload(body: factory))
        #expect(app.transport.requests(to: "/uploads").suffix(2).allSatisfy { $0.body == Data("one two".utf8) })
    }
}

/// What a call threw, if it did.
func error(_ body: () async throws -> Void) async -> NetworkError? {
    do { try await body() } catch { return error as? NetworkError }
    return nil
}

func config(_ change: (inout NetworkConfig) -> Void) -> NetworkConfig {
    var config = NetworkConfig()
    change(&config)
    return config
}

func client(_ transport: any Transport, _ change: (inout NetworkConfig) -> Void = { _ in }) -> NetworkClient {
    NetworkClient(baseURL: "https://api.example.com", config: config(change), transport: transport)
}

/// Lines in the order in which they were written.
final class Log: Sendable {
    private let state = Locked<[String]>([])
    var lines: [String] { state.withLock { $0 } }
    func add(_ line: String) { state.withLock { $0.append(line) } }
}

private struct LoggingInterceptor: RequestInterceptor {
    let log: Log
    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        log.add("interceptor prepare")
    }
    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        log.add("interceptor adapt")
    }
    func validate(_ answer: ServerAnswer, for context: inout RequestContext) async throws {
        log.add("interceptor validate")
    }
    func retry(
        _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
    ) async -> RetryDecision {
        log.add("interceptor retry")
        return .retry
    }
    func process(_ answer: ServerAnswer, for context: inout RequestContext) async throws -> ServerAnswer {
        log.add("interceptor process")
        return answer
    }
}

private struct LoggingObserver: NetworkObserver {
    let log: Log
    func callWillStart(_ call: ObservedCall) { log.add("observer start") }
    func attemptWillStart(_ attempt: ObservedAttempt) { log.add("observer attempt \(attempt.number)") }
    func attemptDidReceive(_ attempt: ObservedAttempt, status: Int, bytes: Int) {
        log.add("observer received \(status)")
    }
    func callWillRetry(_ call: ObservedCall, after delay: Duration, dueTo error: NetworkError) {
        log.add("observer retry")
    }
    func callDidFinish(_ call: FinishedCall) { log.add("observer finish") }
}

/// Signs the user out after the replay has got its token and before it is signed.
private struct SigningOutBeforeReplay: RequestInterceptor {
    let tokens: TokenManager
    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
        if context.attempt == 2 { await tokens.signOut() }
    }
}
