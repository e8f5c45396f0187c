import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Observers hear the outcome that the caller gets", .timeLimit(.minutes(10))) struct CallOutcomeTests {
    /// The starts and ends of calls, and the lines of the log.
    private final class Record: NetworkObserver {
        private let state = Locked((starts: [String](), ends: [String](), attempts: [Int](), lines: [String]()))

        var starts: [String] { state.withLock(\.starts) }
        var ends: [String] { state.withLock(\.ends) }
        var attempts: [Int] { state.withLock(\.attempts) }
        var lines: [String] { state.withLock(\.lines) }

        var log: LogObserver {
            LogObserver { line in self.state.withLock { $0.lines.append(line.description) } }
        }

        func observe(_ event: CallEvent) {
            switch event {
            case .started(let call):
                state.withLock { $0.starts.append("\(call.request.method) \(call.request.path ?? "")") }
            case .finished(let call, let result): note(result, of: call)
            default: break
            }
        }

        private func note(_ result: Result<Int, NetworkError>, of call: ObservedCall) {
            let text =
                switch result {
                case .success(let status): "\(status)"
                case .failure(let error): error.explanation
                }
            state.withLock { state in
                state.ends.append(text)
                state.attempts.append(call.attempt)
            }
        }
    }

    private struct Article: Decodable, Sendable { var id: Int }

    private func client(
        _ transport: StubTransport, _ record: Record, baseURL: BaseURL = "https://api.example.com",
        _ change: (inout NetworkConfig) -> Void = { _ in }
    ) -> NetworkClient {
        var config = NetworkConfig()
        config.time = ManualTimeSource()
        config.observers = [record, record.log]
        change(&config)
        return NetworkClient(baseURL: baseURL, config: config, transport: transport)
    }

    @Test("an envelope that reports a failure with the status 200 is a failed call, in the log, too") func envelope()
        async throws
    {
        let record = Record()
        let transport = StubTransport { _ in
            .json(#"{"success":false,"code":"LIMIT","message":"Too many articles.","data":null}"#)
        }
        let client = client(transport, record) { $0.envelope = ResponseEnvelope() }
        await #expect(throws: NetworkError.self) { try await client.send(Call<Article>.get("/articles/7")) }
        #expect(record.ends.count == 1 && record.ends.first?.contains("Too many articles.") == true)
        #expect(record.lines.count == 2)
        #expect(record.lines.first?.hasPrefix("GET /articles/7 200") == true)
        #expect(record.lines.last?.hasPrefix("GET /articles/7 failed after 1 attempt") == true)
        #expect(record.lines.last?.contains("Too many articles.") == true)
    }

    @Test("a body that cannot be decoded, such as the page of a portal, is a failed call") func undecodable()
        async throws
    {
        for body in [#"{"id":"seven"}"#, "<html>Sign in to the hotel's network</html>"] {
            let record = Record()
            let client = client(StubTransport { _ in .json(body) }, record)
            await #expect(throws: NetworkError.self) { try await client.send(Call<Article>.get("/articles/7")) }
            #expect(record.ends.count == 1 && record.ends != ["200"], "\(record.ends)")
            #expect(record.lines.count == 2, "\(record.lines)")
            let undecoded = try await client.data(for: Call<Article>.get("/articles/7"))
            #expect(undecoded.value == Data(body.utf8))
            #expect(record.ends.last == "200")
        }
    }

    @Test("a sign-in without tokens in its response is a failed call") func signIn() async throws {
        let record = Record()
        var config = NetworkConfig()
        config.observers = [record]
        let transport = StubTransport { _ in .json(#"{"id":7}"#) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport)
        let client = NetworkClient(tokens: tokens, config: config)
        await #expect(throws: NetworkError.self) {
            let _: Article = try await client.signIn(Call<Article>.post("/auth/login"))
        }
        #expect(record.ends.count == 1 && record.ends != ["200"])
    }

    @Test("a sign-in whose tokens cannot be saved, as they must be, is a failed call") func unsavedSignIn() async throws
    {
        let (record, store, time) = (Record(), FailingTokenStore(), ManualTimeSource())
        var (config, policy) = (NetworkConfig(), SessionPolicy())
        config.observers = [record]
        config.time = time
        policy.requiresSavedTokens = true
        let transport = StubTransport { request in
            request.path == "/auth/login" ? .json(#"{"accessToken":"a","refreshToken":"r"}"#) : .status(204)
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"), policy: policy,
            transport: transport, time: time)
        await tokens.restore()
        store.fail(.write, times: nil)
        let client = NetworkClient(tokens: tokens, config: config)
        await #expect(throws: NetworkError.self) { try await client.signIn(Call<NoContent>.post("/auth/login")) }
        #expect(record.ends.count == 1 && record.ends != ["200"], "\(record.ends)")
    }

    @Test("an event stream whose sign-in fails is a failed call") func eventsWithoutSignIn() async throws {
        struct Refused: Error {}
        let record = Record()
        var config = NetworkConfig()
        config.observers = [record]
        config.automaticSignIn = { _ in throw Refused() }
        let transport = StubTransport { _ in .status(204) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport)
        let client = NetworkClient(tokens: tokens, config: config)
        await #expect(throws: NetworkError.self) {
            for try await _ in client.serverSentEvents(from: Call<NoContent>.get("/news", authentication: .required)) {}
        }
        #expect(record.ends.count == 1 && transport.requests.isEmpty, "\(record.ends)")
    }

    @Test("an interceptor that cannot process a response makes a failed call") func processing() async throws {
        struct Broken: RequestInterceptor {
            struct Failure: Error {}
            func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
                throw Failure()
            }
        }
        let record = Record()
        let client = client(StubTransport { _ in .json(#"{"id":7}"#) }, record) { $0.interceptors = [Broken()] }
        await #expect(throws: NetworkError.self) { try await client.send(Call<Article>.get("/articles/7")) }
        #expect(record.ends.count == 1 && record.ends != ["200"])
    }

    @Test("a call that is refused before its request is built starts and ends for the observers") func refused()
        async throws
    {
        let record = Record()
        let transport = StubTransport { _ in .json(#"{"id":7}"#) }
        let open = client(transport, record)
        await #expect(throws: NetworkError.self) { try await open.send(Call<Article>.get("/a/../b")) }
        let insecure = client(transport, record, baseURL: "http://api.example.com")
        await #expect(throws: NetworkError.self) { try await insecure.send(Call<Article>.get("/insecure")) }
        let nowhere = client(transport, record, baseURL: BaseURL("not a URL"))
        await #expect(throws: NetworkError.self) { try await nowhere.send(Call<Article>.get("/nowhere")) }
        await #expect(throws: NetworkError.self) {
            try await open.download(Call<NoContent>.get("/film"), to: "/missing/folder/film.mp4")
        }
        await #expect(throws: NetworkError.self) { try await open.send(Get("/private", .required)) }
        #expect(record.starts.count == 5 && record.ends.count == 5)
        #expect(record.starts.first == "GET /a/../b")
        #expect(record.attempts == [0, 0, 0, 0, 0])
        #expect(record.lines.count == 5 && record.lines.allSatisfy { $0.contains(" not sent, ") }, "\(record.lines)")
        #expect(transport.requests.isEmpty)
    }

    @Test("a hook that fails before the call starts ends it for the observers") func unprepared() async throws {
        struct Broken: RequestInterceptor {
            struct Failure: Error {}
            func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                throw Failure()
            }
        }
        let record = Record()
        let client = client(StubTransport { _ in .status(204) }, record) { $0.interceptors = [Broken()] }
        await #expect(throws: NetworkError.self) { try await client.send(Call<NoContent>.get("/a")) }
        #expect(record.starts.count == 1 && record.ends.count == 1 && record.lines.count == 1)
    }

    @Test("callers that have joined a call report one outcome, that of the first") func joined() async throws {
        let record = Record()
        let gate = Gate()
        let transport = StubTransport()
        transport.when(.get, "/articles/7").hold(at: gate).respond(.json(#"{"id":7}"#))
        let client = client(transport, record) { $0.coalescesIdenticalCalls = true }
        let calls = (0..<2).map { _ in Task { try await client.send(Call<Article>.get("/articles/7")) } }
        await gate.waitForArrivals()
        while client.pipeline.joined?.waiting != 2 { await Task.yield() }
        gate.open()
        for call in calls { #expect(try await call.value.id == 7) }
        #expect(transport.requests.count == 1)
        #expect(record.starts.count == 1 && record.ends == ["200"])
    }

    @Test("a response that no caller takes ends its call as cancelled, once") func undelivered() async throws {
        let record = Record()
        let location = try BaseURL("https://api.example.com").location.get()
        let context = RequestContext(
            endpoint: Call<NoContent>.get("/a"), method: "GET", location: location, time: ManualTimeSource())
        let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/a")
        do {
            let observation = CallObservation(observers: [record], request: request, body: nil, context: context)
            #expect(observation != nil && record.ends.isEmpty)
        }
        #expect(record.ends.count == 1 && record.ends.first?.contains("cancelled") == true)
        do {
            let observation = CallObservation(observers: [record], request: request, body: nil, context: context)
            observation?.finish(with: 204)
            observation?.finish(with: .cancelled(context.call))
        }
        #expect(record.ends.count == 2 && record.ends.last == "204")
    }

    @Test("a stream that breaks off after its head has a line of its own, and one that is read has none") func broken()
        async throws
    {
        let record = Record()
        let server = DownloadServer(Data(count: 3500))
        server.change { $0.breaks = [2000] }
        let client = client(server.transport, record)
        let film = try await client.stream("/film").value
        #expect(record.lines.count == 1 && record.lines[0].hasPrefix("GET /film 200"), "\(record.lines)")
        #expect(record.lines[0].hasSuffix(", stream"))
        await #expect(throws: NetworkError.self) { try await film.collect(upTo: 10_000) }
        #expect(record.lines.count == 2)
        #expect(
            record.lines.last?.hasPrefix("GET /film stream broke off after 0 ms: the connection was lost") == true,
            "\(record.lines)")
        #expect(record.ends == ["200"], "the call itself had ended with its head")
        _ = try await client.stream("/film").value.collect(upTo: 10_000)
        #expect(record.lines.count == 3 && record.ends == ["200", "200"])
    }

    @Test("a call that has waited for a network in vain has a line that says so") func waitedInVain() async throws {
        let record = Record()
        let time = ManualTimeSource()
        let network = ManualConnectivityMonitor(isConnected: false)
        let client = client(StubTransport { _ in .failure(.offline) }, record) { config in
            config.time = time
            config.connectivity = network
            config.connectivityTimeout = .seconds(60)
            config.retry = .never
        }
        let call = Task { try await client.send(Call<Article>.get("/articles/7")) }
        await network.waitForSubscribers()
        await time.waitForSleepers()
        time.advance(by: .seconds(60))
        await #expect(throws: NetworkError.self) { try await call.value }
        #expect(
            record.lines.map { $0.prefix { $0 != ":" } } == [
                "GET /articles/7 failed after 0 ms", "GET /articles/7 waits for a network",
                "GET /articles/7 failed after 1 attempt, 60 s",
            ])
    }

    @Test("an event stream of another type is a failed call") func events() async throws {
        let record = Record()
        let transport = StubTransport { _ in .json("{}") }
        let client = client(transport, record)
        await #expect(throws: NetworkError.self) {
            for try await _ in client.serverSentEvents(from: Call<NoContent>.get("/events")) {}
        }
        #expect(record.ends.count == 1 && record.ends.first?.contains("not text/event-stream") == true)
    }
}
