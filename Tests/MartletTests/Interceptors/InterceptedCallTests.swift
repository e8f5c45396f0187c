import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Interceptors of one call", .timeLimit(.minutes(10))) struct InterceptedCallTests {
    private func logging(_ name: String, _ log: Log) -> ClosureInterceptor {
        ClosureInterceptor(
            onPrepare: { _, _ in log.add("\(name) prepare") }, onAdapt: { _, _ in log.add("\(name) adapt") },
            onRespond: { _, _ in
                log.add("\(name) respond")
                return nil
            }, onValidate: { _, _ in log.add("\(name) validate") },
            onRetry: { _, _, _ in
                log.add("\(name) retry")
                return .noOpinion
            },
            onProcess: { response, _ in
                log.add("\(name) process")
                return response
            })
    }

    @Test("they run before the client's in every hook, and for this call only") func order() async throws {
        let log = Log()
        let transport = StubTransport { .status($0.number == 1 ? 503 : 204) }
        let client = client(transport) {
            $0.retry = RetryPolicy(random: { _ in 0 })
            $0.interceptors = [logging("client", log)]
        }
        try await client.intercepted(by: logging("call", log), logging("next", log)).send(Get("/a", .none))
        let attempt = ["adapt", "respond", "validate"]
        let hooks = ["prepare"] + attempt + ["retry"] + attempt + ["process"]
        #expect(log.lines == hooks.flatMap { ["call \($0)", "next \($0)", "client \($0)"] })
        try await client.send(Get("/b", .none))
        #expect(log.lines.filter { $0.hasPrefix("call") }.count == hooks.count)
        #expect(log.lines.last == "client process")
    }

    @Test("a client that is intercepted twice runs the later interceptors first") func nested() async throws {
        let log = Log()
        let client = client(StubTransport { _ in .status(204) })
        let adding = { @Sendable (name: String) in ClosureInterceptor(onPrepare: { _, _ in log.add(name) }) }
        try await client.intercepted(by: adding("inner")).intercepted(by: adding("outer")).send(Get("/a", .none))
        #expect(log.lines == ["outer", "inner"])
    }

    @Test("session and request slots are those of the client", .timeLimit(.minutes(10))) func sharing() async throws {
        let gate = Gate()
        let app = try await App.signedIn { $0.maximumConcurrentRequests = 1 }
        app.backend.beforeCall {
            if $0.path == "/slow" { await gate.pass() }
            return nil
        }
        let adapted = Log()
        let intercepted = app.client.intercepted(by: ClosureInterceptor(onAdapt: { _, _ in adapted.add("adapted") }))
        let slow = Task { await app.call("/slow") }
        await gate.waitForArrivals()
        let waiting = Task { () async throws -> Echo in try await intercepted.send(Get("/me")) }
        let origin = try #require(Origin("https://api.example.com"))
        while app.client.pipeline.slots.waitingCount(for: origin) == 0 { await Task.yield() }
        #expect(adapted.lines.isEmpty)
        gate.open()
        #expect(await slow.value.isSuccess)
        #expect(try await waiting.value.token == "seen")
        #expect(adapted.lines.count == 1)
    }

    @Test("they may call the client without them, although their call holds the only slot", arguments: Hook.allCases)
    func innerCalls(hook: Hook) async throws {
        let transport = StubTransport { .status(hook == .retry && $0.number == 1 ? 418 : 204) }
        let client = client(transport) { $0.maximumConcurrentRequests = 1 }
        let call = { @Sendable (current: Hook) async throws in
            if current == hook { try await client.send(Get("/inner", .none)) }
        }
        let interceptor = ClosureInterceptor(
            onPrepare: { _, _ in try await call(.prepare) }, onAdapt: { _, _ in try await call(.adapt) },
            onValidate: { _, _ in try await call(.validate) },
            onRetry: { _, _, _ in (try? await call(.retry)) == nil ? .noOpinion : .retry },
            onProcess: { response, _ in
                try await call(.process)
                return response
            })
        try await client.intercepted(by: interceptor).send(Get("/outer", .none))
        #expect(transport.requests(to: "/inner").count == 1)
    }

    @Test("an automatic sign-in runs without them") func automaticSignIn() async throws {
        let log = Log()
        let backend = SimulatedBackend()
        backend.beforeCall { $0.path == "/guest" ? .status(204) : nil }
        let app = App(backend) { config in
            config.automaticSignIn = { client in
                _ = try await client.data(for: Get("/guest", .none))
                try await client.tokens?.signIn(with: backend.issue())
            }
        }
        let noting = ClosureInterceptor(onPrepare: { request, _ in log.add(request.path ?? "") })
        _ = try await app.client.intercepted(by: noting).data(for: Get("/me"))
        #expect(log.lines == ["/me"])
    }
}
