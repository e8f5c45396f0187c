import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The body in interceptors", .timeLimit(.minutes(10))) struct InterceptorBodyTests {
    @Test("a body in memory shows its bytes, a stream its length if it is known") func reading() async throws {
        let log = Log()
        let look: ClosureInterceptor.Change = { _, context in
            let text = context.body?.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "no bytes"
            log.add(context.body.map { "\(text), \($0.length.map(String.init) ?? "unknown")" } ?? "no body")
        }
        let client = client(StubTransport { _ in .status(204) }) {
            $0.interceptors = [ClosureInterceptor(onPrepare: look, onAdapt: look)]
        }
        let open: @Sendable () throws -> ByteStream = { ByteStream(Data("four".utf8)) }
        let bodies: [RequestBody?] = [
            nil, .json(["a": 1]), .stream(length: 4, contentType: nil, open: open),
            .stream(length: nil, contentType: nil, open: open),
        ]
        for body in bodies { try await client.send(Post("/a", body)) }
        let expected = ["no body", #"{"a":1}, 7"#, "no bytes, 4", "no bytes, unknown"]
        #expect(log.lines == expected.flatMap { [$0, $0] })
    }

    @Test("a body that prepare replaces is sent by all attempts, one that adapt replaces by one") func attempts()
        async throws
    {
        let log = Log()
        let transport = StubTransport { .status($0.number < 3 ? 503 : 204) }
        let client = client(transport) {
            $0.retry = RetryPolicy(methods: [.post], random: { _ in 0 })
            $0.interceptors = [
                ClosureInterceptor(
                    onPrepare: { _, context in context.appendToBody("-prepared") },
                    onAdapt: { _, context in context.appendToBody("-\(context.attempt)") },
                    onRetry: { _, context, _ in
                        log.add(context.body?.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "")
                        return .noOpinion
                    })
            ]
        }
        try await client.send(Post("/a"))
        #expect(transport.requests.map(\.text) == ["x-prepared-1", "x-prepared-2", "x-prepared-3"])
        #expect(log.lines == ["x-prepared", "x-prepared"])
    }

    @Test("each interceptor sees the body of those before it, and the transport gets the last one") func order()
        async throws
    {
        let transport = StubTransport { _ in .status(204) }
        let interceptors = ["a", "b", "c"].map { name in
            ClosureInterceptor(
                onPrepare: { _, context in context.appendToBody(name) },
                onAdapt: { _, context in context.appendToBody(name.uppercased()) })
        }
        try await client(transport) { $0.interceptors = interceptors }.send(Post("/a"))
        #expect(transport.requests.map(\.text) == ["xabcABC"])
    }

    @Test("a request that is replayed with a new token starts from the prepared body") func replay() async throws {
        let app = try await App.signedIn {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, context in
                    context.appendToBody(" for \(request.headerFields[.authorization] ?? "")")
                })
            ]
        }
        app.backend.invalidateAccessTokens()
        try await app.client.send(Post("/a", .text("x"), .required))
        let bodies = app.transport.requests(to: "/a").map(\.text)
        #expect(bodies == ["x for Bearer access-1", "x for Bearer access-2"])
    }

    @Test("a body can be added and removed") func addingAndRemoving() async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport)
        try await client.intercepted(by: ClosureInterceptor(onAdapt: { $1.appendToBody("new") })).send(Post("/a", nil))
        try await client.intercepted(by: ClosureInterceptor(onPrepare: { $1.body = nil })).send(Post("/a"))
        #expect(transport.requests.map(\.text) == ["new", ""])
    }

    @Test("a body that another hook assigns is not sent") func otherHooks() async throws {
        let transport = StubTransport { .status($0.number == 1 ? 418 : 204) }
        let client = client(transport) {
            $0.interceptors = [
                ClosureInterceptor(
                    onRespond: { _, context in
                        context.appendToBody("-respond")
                        return nil
                    }, onValidate: { _, context in context.appendToBody("-validate") },
                    onRetry: { _, context, _ in
                        context.appendToBody("-no opinion")
                        return .noOpinion
                    }), ClosureInterceptor(onRetry: { _, _, _ in .retry }),
            ]
        }
        try await client.send(Post("/a"))
        #expect(transport.requests.map(\.text) == ["x", "x"])
    }

    @Test("a stream that can be read once can be sent again after prepare has replaced it") func singleUse()
        async throws
    {
        let (chunks, source) = AsyncStream.makeStream(of: Data.self)
        source.finish()
        let transport = StubTransport { .status($0.number == 1 ? 503 : 204) }
        let client = client(transport) {
            $0.retry = RetryPolicy(methods: [.post], random: { _ in 0 })
            $0.interceptors = [ClosureInterceptor(onPrepare: { $1.body = .init(Data("bytes".utf8)) })]
        }
        try await client.send(Post("/a", .singleUse(chunks)))
        #expect(transport.requests.map(\.text) == ["bytes", "bytes"])
    }

    @Test("a redirect that repeats the body repeats the replaced one") func redirect() async throws {
        let transport = StubTransport {
            $0.number == 1 ? .status(307, headers: [.location: "/b"]) : .status(204)
        }
        let client = client(transport) { $0.interceptors = [ClosureInterceptor(onAdapt: { $1.appendToBody("y") })] }
        try await client.send(Post("/a"))
        #expect(transport.requests.map { "\($0.path) \($0.text)" } == ["/a xy", "/b xy"])
    }

    @Test("the token must last for the body that is sent", arguments: [true, false])
    func transferTime(grows: Bool) async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = 200 }
        let app = try await App.signedIn(backend) {
            $0.uploadBytesPerSecond = 10
            $0.interceptors = [
                ClosureInterceptor(onPrepare: { $1.body = .init(Data(count: grows ? 1000 : 1)) })
            ]
        }
        // Of the token's 200 s, 26 are left. The large body takes 100 s.
        app.time.advance(by: .seconds(174))
        try await app.client.send(Post("/a", .bytes(Data(count: grows ? 1 : 1000)), .required))
        #expect(app.backend.refreshCalls == (grows ? 1 : 0))
    }

    @Test("Expect follows the length of the body that is sent", arguments: Phase.allCases, [true, false])
    func expectation(phase: Phase, grows: Bool) async throws {
        let stub = StubTransport { _ in .status(204) }
        let change: ClosureInterceptor.Change = { _, context in context.body = .init(Data(count: grows ? 100 : 1)) }
        let interceptor =
            phase == .prepare ? ClosureInterceptor(onPrepare: change) : ClosureInterceptor(onAdapt: change)
        let client = client(AskingTransport(stub: stub)) {
            $0.expectContinueThreshold = 10
            $0.interceptors = [interceptor]
        }
        try await client.send(Post("/a", .bytes(Data(count: grows ? 1 : 100))))
        #expect(stub.requests.map { $0.headers[.expect] } == [grows ? "100-continue" : nil])
    }

    @Test("a server that refuses Expect for a replaced body gets it without") func refusedExpectation() async throws {
        let stub = StubTransport { .status($0.headers[.expect] == nil ? 204 : 417) }
        let client = client(AskingTransport(stub: stub)) {
            $0.expectContinueThreshold = 10
            $0.interceptors = [ClosureInterceptor(onAdapt: { $1.body = .init(Data(count: 100)) })]
        }
        try await client.send(Post("/a"))
        #expect(stub.requests.map { $0.headers[.expect] } == ["100-continue", nil])
    }

    @Test("observers see the body of the attempt") func observers() async throws {
        struct Observer: NetworkObserver {
            let log: Log

            func observe(_ event: CallEvent) {
                switch event {
                case .started(let call), .attemptStarted(let call), .finished(let call, _):
                    log.add(call.bodyText() ?? "none")
                default: break
                }
            }
        }
        let log = Log()
        let client = client(StubTransport { _ in .status(204) }) {
            $0.observers = [Observer(log: log)]
            $0.interceptors = [
                ClosureInterceptor(
                    onPrepare: { $1.appendToBody("-prepared") }, onAdapt: { $1.appendToBody("-adapted") })
            ]
        }
        try await client.send(Post("/a"))
        #expect(log.lines == ["x-prepared", "x-prepared-adapted", "x-prepared"])
    }

    @Test("observers see the type of the body that an interceptor has set for the attempt") func observedType()
        async throws
    {
        struct Observer: NetworkObserver {
            let log: Log

            func observe(_ event: CallEvent) {
                if case .attemptStarted(let call) = event { log.add(call.body?.contentType ?? "none") }
            }
        }
        let log = Log()
        let client = client(StubTransport { _ in .status(204) }) {
            $0.observers = [Observer(log: log)]
            $0.interceptors = [
                ClosureInterceptor(onAdapt: {
                    $0.headerFields[.contentType] = "text/csv"
                    $1.body = .init(Data("a,b".utf8))
                })
            ]
        }
        try await client.send(Post("/a"))
        #expect(log.lines == ["text/csv"])
    }
}

/// A transport that supports `Expect: 100-continue`.
private struct AskingTransport: Transport {
    let stub: StubTransport
    var waitsForContinue: Bool { true }

    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        try await stub.send(request, body: body)
    }
}
