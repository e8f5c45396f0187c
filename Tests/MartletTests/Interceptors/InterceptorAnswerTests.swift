import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Answers of interceptors", .timeLimit(.minutes(10))) struct InterceptorAnswerTests {
    private let echo = #"{"path":"/a","token":"cached"}"#

    @Test("an answer is validated, processed and decoded, and nothing is sent") func answered() async throws {
        let log = Log()
        let transport = StubTransport { _ in .status(500) }
        let answer = ServerResponse(status: 200, "answer")
        let client = client(transport) { [echo] config in
            config.interceptors = [
                ClosureInterceptor(
                    onRespond: { request, context in
                        log.add("respond \(request.method) \(request.path ?? "") \(context.attempt)")
                        return answer
                    }, onValidate: { response, _ in log.add("validate \(response.status)") },
                    onProcess: { _, _ in ServerResponse(status: 200, echo) })
            ]
        }
        let value: Echo = try await client.send(Get("/a", .none))
        #expect(value.token == "cached")
        #expect(transport.requests.isEmpty)
        #expect(log.lines == ["respond GET /a 1", "validate 200"])
    }

    @Test("the first answer wins, and every interceptor has adapted the request by then") func order() async throws {
        let log = Log()
        func interceptor(_ name: String, answers: Bool) -> ClosureInterceptor {
            ClosureInterceptor(
                onAdapt: { request, _ in request.headerFields.append(HTTPField(name: .via, value: name)) },
                onRespond: { request, _ in
                    log.add("\(name) sees \(request.headerFields[.via] ?? "")")
                    return answers ? ServerResponse(status: 204) : nil
                })
        }
        let client = client(StubTransport { _ in .status(500) }) {
            $0.interceptors = [
                interceptor("a", answers: false), interceptor("b", answers: true), interceptor("c", answers: true),
            ]
        }
        try await client.send(Get("/a", .none))
        #expect(log.lines == ["a sees a, b, c", "b sees a, b, c"])
    }

    @Test("observers see an answer that was received and not sent") func observers() async throws {
        struct Observer: NetworkObserver {
            let log: Log

            func observe(_ event: CallEvent) {
                switch event {
                case .started: log.add("start")
                case .attemptStarted: log.add("attempt")
                case .received(_, let response): log.add("received \(response.status), \(response.bytes) bytes")
                case .finished(let call, _): log.add("finish after \(call.attempt) attempts")
                default: break
                }
            }
        }
        let log = Log()
        let client = client(StubTransport { _ in .status(500) }) {
            $0.observers = [Observer(log: log)]
            $0.interceptors = [ClosureInterceptor(onRespond: { _, _ in ServerResponse(status: 200, "four") })]
        }
        _ = try await client.data(for: Get("/a", .none))
        #expect(log.lines == ["start", "received 200, 4 bytes", "finish after 0 attempts"])
    }

    @Test("an answer that is a failure is retried like any other") func retried() async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport) {
            $0.retry = RetryPolicy(random: { _ in 0 })
            $0.interceptors = [
                ClosureInterceptor(onRespond: { _, context in
                    context.attempt == 1 ? ServerResponse(status: 503) : nil
                })
            ]
        }
        try await client.send(Get("/a", .none))
        #expect(transport.requests.count == 1)
    }

    @Test("an answer says nothing about the token: a 401 fails the call and does not refresh it") func rejection()
        async throws
    {
        let app = try await App.signedIn {
            $0.interceptors = [ClosureInterceptor(onRespond: { _, _ in ServerResponse(status: 401) })]
        }
        let failure = await app.call().error
        #expect(failure?.response?.status == 401)
        #expect(app.backend.refreshCalls == 0)
        #expect(app.transport.requests.isEmpty)
        #expect(app.tokens.isSignedIn)
    }

    @Test("an interceptor knows whose request it answers, and is not asked after the session has ended")
    func sessions() async throws {
        let log = Log()
        let app = try await App.signedIn { [echo] config in
            config.interceptors = [
                ClosureInterceptor(onRespond: { request, context in
                    log.add("\(context.stamp != nil) \(request.headerFields[.authorization] ?? "none")")
                    return ServerResponse(status: 200, echo)
                })
            ]
        }
        #expect(await app.call().isSuccess)
        #expect(log.lines == ["true Bearer access-1"])
        await app.tokens.signOut()
        guard case .signInRequired = await app.call().error else {
            Issue.record("a call without a session should fail")
            return
        }
        #expect(log.lines.count == 1)
    }

    @Test("an answer does not reach a call whose session ends while the interceptor waits") func lateSignOut()
        async throws
    {
        let gate = Gate()
        let app = try await App.signedIn { [echo] config in
            config.interceptors = [
                ClosureInterceptor(onRespond: { _, _ in
                    await gate.pass()
                    return ServerResponse(status: 200, echo)
                })
            ]
        }
        let call = Task { await app.call() }
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        #expect(await !call.value.isSuccess)
    }

    @Test("a download and a stream take an answer as they take a response") func receivers() async throws {
        let transport = StubTransport { _ in .status(500) }
        let client = client(transport) {
            $0.maximumConcurrentRequests = 1
            $0.interceptors = [ClosureInterceptor(onRespond: { _, _ in ServerResponse(status: 200, "cached") })]
        }
        try await TemporaryFolder.with { folder in
            _ = try await client.download(Get("/a", .none), to: folder.path + "/file")
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/file")) == Data("cached".utf8))
        }
        for _ in 0..<2 {
            let stream = try await client.stream(Get("/a", .none)).value
            #expect(try await stream.collect(upTo: 10) == Data("cached".utf8))
        }
        #expect(transport.requests.isEmpty)
    }

    @Test("an interceptor may call its own client for an answer, although its call holds the only slot") func slots()
        async throws
    {
        let transport = StubTransport { _ in .status(204) }
        let open = client(transport) { $0.maximumConcurrentRequests = 1 }
        let asking = open.intercepted(
            by: ClosureInterceptor(onRespond: { _, _ in
                let response = try await open.data(for: Get("/mirror", .none))
                return ServerResponse(head: response.head, body: response.value)
            }))
        try await asking.send(Get("/a", .none))
        #expect(transport.requests.map(\.path) == ["/mirror"])
    }
}
