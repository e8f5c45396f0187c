import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Server-sent events over a client", .timeLimit(.minutes(10))) struct ServerSentEventsTests {
    private func stream(_ text: String, thenBreaks: Bool = false) -> StubTransport.Response {
        StubTransport.Response(
            200, headers: [.contentType: "text/event-stream; charset=utf-8"],
            stream: ByteStream {
                var rest: Data? = Data(text.utf8)
                return {
                    defer { rest = nil }
                    if rest == nil, thenBreaks { throw TransportError.connectionLost("reset by peer") }
                    return rest
                }
            })
    }

    @Test("a lost connection is reconnected after the retry time and resumed after the last event")
    func reconnecting() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            switch request.number {
            case 1: stream("retry: 500\nid: 1\ndata: one\n\ndata: lost", thenBreaks: true)
            case 2: stream("id: 2\ndata: two\n\n")
            default: .status(204)
            }
        }
        let client = client(transport) { $0.time = time }
        let reading = Task {
            var heard: [String] = []
            for try await event in client.serverSentEvents(from: Get("/news", .none)) { heard.append(event.data) }
            return heard
        }
        // The call's timeout is the other sleeper.
        await time.waitForSleepers(2)
        time.advance(by: .milliseconds(1000))
        await time.waitForSleepers(2)
        time.advance(by: .milliseconds(500))
        #expect(try await reading.value == ["one", "two"])
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(transport.requests.map { $0.headers[name] } == [nil, "1", "2"])
        #expect(transport.requests.allSatisfy { $0.headers[.accept] == "text/event-stream" })
    }

    @Test("interceptors see the endpoint of the app") func endpoint() async throws {
        struct Noting: RequestInterceptor {
            let seen: Locked<[Bool]>
            func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
                let isGet = context.endpoint is Get
                seen.withLock { $0.append(isGet) }
            }
        }
        let seen = Locked<[Bool]>([])
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) { $0.interceptors = [Noting(seen: seen)] }
        for try await _ in client.serverSentEvents(from: Get("/news", .none)) {}
        #expect(seen.withLock { $0 } == [true])
        #expect(transport.requests.map { $0.headers[.accept] } == ["text/event-stream"])
    }

    @Test(
        "a record that waiting cannot make readable ends the sequence", arguments: [StorageError.Kind.corrupt, .tooNew])
    func unreadableRecord(kind: StorageError.Kind) async throws {
        let store = FailingTokenStore()
        store.fail(.read, times: nil, with: StorageError(kind, "it cannot be read"))
        let app = App(store: store)
        let failure = await error { () async throws(NetworkError) in
            for try await _ in app.client.serverSentEvents(from: Get("/news")) {}
        }
        guard case .storageUnavailable(_, let storage) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(storage.kind == kind && app.transport.requests.isEmpty)
    }

    @Test("a sequence says that it connects again, and why, and throws errors of one type") func signal() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            switch request.number {
            case 1: stream("retry: 0\ndata: one\n\n", thenBreaks: true)
            case 2: stream("data: two\n\n")
            default: .status(404)
            }
        }
        let client = client(transport) { $0.time = time }
        let reasons = Locked<[String]>([])
        func read() async -> (events: [String], status: Int?) {
            var heard: [String] = []
            let events = client.serverSentEvents(from: "/news") { error in
                reasons.withLock { $0.append(error == nil ? "closed" : "lost") }
            }
            do {
                for try await event in events { heard.append(event.data) }
                return (heard, nil)
            } catch {
                // The compiler knows the type.
                let failure: NetworkError = error
                return (heard, failure.status)
            }
        }
        let reading = Task { await read() }
        while transport.requests.count < 3 {
            await time.waitForSleepers(1)
            time.advance(by: .milliseconds(100))
            for _ in 0..<20 { await Task.yield() }
        }
        let result = await reading.value
        #expect(result.events == ["one", "two"] && result.status == 404)
        #expect(reasons.withLock { $0 } == ["lost", "closed"])
    }

    @Test("the delay doubles with each connection that fails, up to a minute") func growingDelay() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            guard request.number > 6 else { throw TransportError.offline }
            return .status(204)
        }
        let client = client(transport) { config in
            config.time = time
            config.timeout = .seconds(1 << 40)
            config.retry = .never
        }
        let reading = Task {
            for try await _ in client.serverSentEvents(from: Get("/news", .none)) {}
        }
        for (index, delay) in [6, 12, 24, 48, 60, 60].enumerated() {
            // The call's timeout is the other sleeper.
            await time.waitForSleepers(2)
            #expect(transport.requests.count == index + 1)
            time.advance(by: .seconds(delay) - .milliseconds(1))
            #expect(time.sleeperCount == 2)
            time.advance(by: .milliseconds(1))
        }
        try await time.advance(by: .seconds(1)) { try await reading.value }
        #expect(transport.requests.count == 7)
    }

    @Test("a server that asks for no delay is still not asked again at once") func shortestDelay() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            request.number == 1 ? stream("retry: 0\ndata: one\n\n") : .status(204)
        }
        let client = client(transport) { $0.time = time }
        let reading = Task {
            for try await _ in client.serverSentEvents(from: Get("/news", .none)) {}
        }
        // The call's timeout is the other sleeper. Without a delay, there is another request.
        while time.sleeperCount < 2, transport.requests.count < 2 { await Task.yield() }
        time.advance(by: .milliseconds(99))
        for _ in 0..<100 { await Task.yield() }
        #expect(transport.requests.count == 1)
        time.advance(by: .milliseconds(1))
        try await reading.value
        #expect(transport.requests.count == 2)
    }

    @Test(
        "a refused reconnection is tried again only after a temporary status",
        arguments: [
            (408, true), (425, true), (429, true), (502, true), (503, true), (504, true), (403, false), (500, false),
            (501, false),
        ])
    func temporaryRefusals(status: Int, isTemporary: Bool) async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            switch request.number {
            case 1: stream("data: one\n\n")
            case 2: .status(status)
            default: .status(204)
            }
        }
        let client = client(transport) { config in
            config.time = time
            config.timeout = .seconds(1 << 40)
            config.retry = .never
        }
        let failure = try await time.advance(by: .seconds(1)) {
            await error { for try await _ in client.serverSentEvents(from: Get("/news", .none)) {} }
        }
        #expect(failure?.status == (isTemporary ? nil : status))
        #expect(transport.requests.count == (isTemporary ? 3 : 2))
    }

    @Test("a server that refuses the first connection for now is not asked again") func refusedAtFirst() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { $0.number == 1 ? .status(503) : .status(204) }
        let client = client(transport) { config in
            config.time = time
            config.timeout = .seconds(1 << 40)
            config.retry = .never
        }
        let failure = try await time.advance(by: .seconds(1)) {
            await error { for try await _ in client.serverSentEvents(from: Get("/news", .none)) {} }
        }
        #expect(failure?.status == 503)
        #expect(transport.requests.count == 1)
    }

    @Test("a server that refuses a reconnection for now is asked again after its pause") func refusedForNow()
        async throws
    {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            switch request.number {
            case 1: stream("id: 1\ndata: one\n\n")
            case 2: .status(503)
            case 3: .status(429, headers: [.retryAfter: "100"])
            case 4: stream("data: two\n\n")
            default: .status(404)
            }
        }
        let client = client(transport) { config in
            config.time = time
            config.timeout = .seconds(10_000)
            config.retry = .never
        }
        let reasons = Locked<[Int?]>([])
        func read() async -> (heard: [String], status: Int?) {
            var heard: [String] = []
            let events = client.serverSentEvents(from: "/news") { error in
                reasons.withLock { $0.append(error?.status) }
            }
            do {
                for try await event in events { heard.append(event.data) }
                return (heard, nil)
            } catch {
                return (heard, error.status)
            }
        }
        let reading = Task { await read() }
        // The time after the end of the stream, after the 503, after the 429 as the server asked, after the second end.
        for delay in [3, 6, 100, 3] {
            // The call's timeout is the other sleeper.
            await time.waitForSleepers(2)
            time.advance(by: .seconds(delay) - .milliseconds(1))
            #expect(time.sleeperCount == 2)
            time.advance(by: .milliseconds(1))
        }
        let (heard, status) = await reading.value
        #expect(heard == ["one", "two"] && status == 404)
        #expect(reasons.withLock { $0 } == [nil, 503, 429, nil])
    }

    @Test("a POST is not sent again after its stream has ended, or broken off", arguments: [false, true])
    func post(breaksOff: Bool) async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { _ in
            guard breaksOff else { return stream("retry: 100\ndata: answer\n\n") }
            throw TransportError.connectionLost("the server closed the connection")
        }
        let question = Call<NoContent>.post("/chat", .json(["question": "why?"]))
        var heard: [String] = []
        let failure = await error {
            for try await event in app.client.serverSentEvents(from: question) { heard.append(event.data) }
        }
        #expect(heard == (breaksOff ? [] : ["answer"]))
        #expect((failure != nil) == breaksOff)
        #expect(app.backend.calls(to: "/chat") == 1)
    }

    @Test("an expired token is refreshed for the next connection") func signed() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.beforeCall { request in
            let isValid = app.backend.state.withLock { $0.validAccess.contains(request.bearer ?? "") }
            return isValid ? stream("data: hello\n\n") : nil
        }
        var heard: [String] = []
        for try await event in app.client.serverSentEvents(from: Get("/news"), reconnects: false) {
            heard.append(event.data)
        }
        #expect(heard == ["hello"])
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("events that have arrived are not delivered after the sign-out of their user") func buffered() async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { _ in stream("data: one\n\ndata: two\n\n") }
        var events = app.client.serverSentEvents(from: Get("/news")).makeAsyncIterator()
        #expect(try await events.next()?.data == "one")
        await app.tokens.signOut()
        try await app.tokens.signIn(with: app.backend.issue())
        let failure = await error { _ = try await events.next() }
        guard case .sessionChanged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("events that another user's sign-in overtakes before the first connection are not requested")
    func overtaken() async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { _ in stream("data: one\n\n") }
        var events = app.client.serverSentEvents(from: Get("/news")).makeAsyncIterator()
        try await app.tokens.signIn(with: app.backend.issue())
        let failure = await error { _ = try await events.next() }
        guard case .sessionChanged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(app.backend.calls(to: "/news") == 0)
    }

    @Test("a refresh that fails offline does not end the stream") func offlineAtRefresh() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(4000))
        let failures = Locked(2)
        app.backend.beforeRefresh { _ in
            if failures.withLock({ left in
                left -= 1
                return left >= 0
            }) {
                throw TransportError.offline
            }
            return nil
        }
        app.backend.beforeCall { _ in stream("data: back\n\n") }
        // Past the delays of the connection and of the refresh.
        let data = try await app.time.advance(by: .seconds(1)) {
            for try await event in app.client.serverSentEvents(from: Get("/news")) { return event.data }
            return "nothing"
        }
        #expect(data == "back")
    }

    @Test(
        "white space before the parameters of the content type is accepted",
        arguments: [" ; charset=utf-8", "\t;a=b", " "])
    func spaced(rest: String) async throws {
        let transport = StubTransport { _ in
            StubTransport.Response(
                200, headers: [.contentType: "text/event-stream\(rest)"], body: Data("data: one\n\n".utf8))
        }
        var heard: [String] = []
        for try await event in client(transport).serverSentEvents(from: Get("/news", .none), reconnects: false) {
            heard.append(event.data)
        }
        #expect(heard == ["one"])
    }

    @Test("a 204 ends the events, whatever statuses the endpoint accepts") func noContent() async throws {
        let transport = StubTransport { $0.number == 1 ? stream("retry: 0\ndata: one\n\n") : .status(204) }
        let client = client(transport) { $0.time = ManualTimeSource() }
        let endpoint = Call<NoContent>(.get, "/news", authentication: .none, acceptableStatuses: [200])
        let time = try #require(client.config.time as? ManualTimeSource)
        let reading = Task {
            var heard: [String] = []
            for try await event in client.serverSentEvents(from: endpoint) { heard.append(event.data) }
            return heard
        }
        await time.waitForSleepers(2)
        time.advance(by: .seconds(1))
        #expect(try await reading.value == ["one"])
    }

    @Test("another content type or a refusal is an error and not retried") func refused() async throws {
        for response in [StubTransport.Response.json("{}"), .status(404)] {
            let transport = StubTransport { _ in response }
            let client = client(transport)
            let failure = await error {
                for try await _ in client.serverSentEvents(from: Get("/news", .none)) {}
            }
            #expect(failure != nil && failure?.isCancelled == false)
            #expect(transport.requests.count == 1)
        }
    }

    private struct Endings: NetworkObserver {
        let errors = Locked<[NetworkError]>([])

        func observe(_ event: CallEvent) {
            if case .finished(_, .failure(let error)) = event { errors.withLock { $0.append(error) } }
        }
    }

    @Test("observers hear why a stream ends while it waits for the next connection") func endsWhileWaiting()
        async throws
    {
        let endings = Endings()
        let app = try await App.signedIn { $0.observers = [endings] }
        app.backend.beforeCall { _ in stream("data: one\n\n") }
        let waits = Gate()
        let reading = Task {
            await error {
                let events = app.client.serverSentEvents(from: Get("/news")) { _ in waits.open() }
                for try await _ in events {}
            }
        }
        await waits.pass()
        await app.tokens.signOut()
        let failure = await reading.value
        guard case .signInRequired = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(endings.errors.withLock { $0.count } == 1)
        guard case .sessionChanged = endings.errors.withLock({ $0.last }) else {
            Issue.record("the observers have not heard the end of the session")
            return
        }
    }

    @Test("a cancelled task stops waiting for the next connection") func cancelled() async throws {
        let time = ManualTimeSource()
        let client = client(StubTransport { _ in stream("data: one\n\n") }) { $0.time = time }
        let reading = Task {
            await error { for try await _ in client.serverSentEvents(from: Get("/news", .none)) {} }
        }
        await time.waitForSleepers(2)
        reading.cancel()
        #expect(await reading.value?.isCancelled == true)
    }

    @Test("events before an oversized one are delivered") func before() async throws {
        let transport = StubTransport { _ in stream("data: one\n\ndata: \(String(repeating: "x", count: 200))\n\n") }
        let log = Log()
        let client = client(transport) {
            $0.maximumResponseBytes = 100
            $0.observers = [.log { log.add($1) }]
        }
        let heard = Locked<[String]>([])
        let failure = await error {
            for try await event in client.serverSentEvents(from: Get("/news", .none)) {
                heard.withLock { $0.append(event.data) }
            }
        }
        guard case .responseTooLarge = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(heard.withLock { $0 } == ["one"])
        #expect(log.lines.count == 2 && log.lines.last?.contains("GET /news stream broke off") == true, "\(log.lines)")
    }

    @Test(
        "a stream that began before the store was read does not go on without its session", .timeLimit(.minutes(10)))
    func beganUnread() async throws {
        let (backend, store, bearers) = (SimulatedBackend(), InMemoryTokenStore(), Log())
        _ = try await App.signedIn(backend, store: store)
        let app = App(backend, store: store) { $0.retry = .never }
        backend.beforeCall { request in
            bearers.add(request.bearer ?? "none")
            throw TransportError.connectionLost("reset by peer")
        }
        let reading = Task {
            await error { for try await _ in app.client.serverSentEvents(from: Get("/news", .ifSignedIn)) {} }
        }
        while bearers.lines.isEmpty { await Task.yield() }
        backend.revokeSession()
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        guard case .sessionExpired = await reading.value else {
            Issue.record("the stream should end with its session")
            return
        }
        #expect(bearers.lines == ["access-1"])
    }
}
