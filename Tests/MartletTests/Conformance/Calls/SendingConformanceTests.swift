import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: a token at the moment of sending", .timeLimit(.minutes(10))) struct SendingConformanceTests {
    /// Signs the token of a request, and takes time for it.
    private struct SlowSigner: RequestInterceptor {
        let time: ManualTimeSource
        /// The delays of the first signatures.
        let delays: Locked<[Duration]>

        init(_ time: ManualTimeSource, delays: [Duration]) {
            self.time = time
            self.delays = Locked(delays)
        }

        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            let delay = delays.withLock { $0.isEmpty ? .zero : $0.removeFirst() }
            if delay > .zero { time.advance(by: delay) }
            request.headerFields[.xSignature] = "of \(request.headerFields[.authorization] ?? "no token")"
        }
    }

    /// An app whose tokens live ten seconds, and whose interceptor signs requests.
    private func app(delays: [Duration], signsIn: Bool = true) async throws -> App {
        let (backend, time) = (SimulatedBackend(), ManualTimeSource())
        backend.state.withLock { $0.lifetime = 10 }
        let app = App(backend, time: time) {
            $0.interceptors = [SlowSigner(time, delays: delays)]
            $0.retry = .never
        }
        if signsIn { try await app.tokens.signIn(with: backend.issue()) }
        return app
    }

    @Test("C88: a token that expires while an interceptor works is replaced, and the request is adapted again")
    func slowInterceptor() async throws {
        let app = try await app(delays: [.seconds(11)])
        #expect(await app.call().isSuccess)
        let requests = app.transport.requests(to: "/me")
        #expect(requests.map(\.bearer) == ["access-2"])
        #expect(requests.first?.headers[.xSignature] == "of Bearer access-2")
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C88: interceptors that always outlast the token do not delay the call forever")
    func alwaysSlowInterceptor() async throws {
        let app = try await app(delays: Array(repeating: .seconds(11), count: 100))
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-3"])
    }

    @Test("C88: if the refresh fails, the call fails with its error and is not sent") func failedRefresh() async throws
    {
        let app = try await app(delays: [.seconds(11)])
        app.backend.beforeRefresh { _ in .status(503) }
        guard case .refreshFailed(_, let failure, _) = await app.call().error else {
            Issue.record("the call went on")
            return
        }
        #expect(failure.kind == .status(503))
        #expect(app.backend.calls(to: "/me") == 0)
    }

    @Test("C88: an expired token that cannot be renewed is sent, and the server judges it") func noRenewal()
        async throws
    {
        let app = try await app(delays: [.seconds(11)], signsIn: false)
        var tokens = app.backend.issue()
        tokens.refreshToken = nil
        try await app.tokens.signIn(with: tokens)
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1"])
    }

    @Test("C88: what an interceptor puts in place of the token needs no refresh") func ownCredential() async throws {
        let (backend, time) = (SimulatedBackend(), ManualTimeSource())
        backend.state.withLock { $0.lifetime = 10 }
        backend.beforeCall { _ in .json(#"{"path":"/me","token":"none"}"#) }
        let app = App(backend, time: time) {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, _ in
                    time.advance(by: .seconds(11))
                    request.headerFields[.authorization] = "ApiKey k"
                })
            ]
        }
        try await app.tokens.signIn(with: backend.issue())
        #expect(await app.call().isSuccess)
        #expect(backend.refreshCalls == 0)
    }

    @Test(
        "C88: a rejection of what an interceptor puts in place of the token does not concern the token",
        arguments: [true, false])
    func rejectedOwnCredential(isRefreshable: Bool) async throws {
        let backend = SimulatedBackend()
        backend.beforeCall { request in request.path == "/legacy" ? .status(401) : nil }
        let app = App(backend) {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, context in
                    guard request.path == "/legacy" else { return }
                    request.headerFields[.authorization] = "ApiKey wrong"
                    #expect(context.stamp != nil)
                })
            ]
        }
        var tokens = backend.issue()
        if !isRefreshable { tokens.refreshToken = nil }
        try await app.tokens.signIn(with: tokens)
        guard case .unauthorized = await app.call("/legacy").error else {
            Issue.record("the call ended in another way")
            return
        }
        #expect(app.tokens.isSignedIn && backend.refreshCalls == 0)
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1"])
    }

    @Test("C88: a rejected token that an interceptor has written in another form is replaced") func otherForm()
        async throws
    {
        let app = try await App.signedIn {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, _ in
                    let token = request.headerFields[.authorization]?.dropFirst("Bearer ".count) ?? ""
                    request.headerFields[.authorization] = "DPoP \(token)"
                })
            ]
        }
        app.backend.beforeCall { request in
            request.headers[.authorization] == "DPoP access-1" ? .status(401) : .json(#"{"path":"/me","token":"seen"}"#)
        }
        #expect(await app.call().isSuccess)
        #expect(
            app.transport.requests(to: "/me").map { $0.headers[.authorization] } == ["DPoP access-1", "DPoP access-2"])
    }

    @Test("C88: a rejected token that an interceptor has put into credentials of the Basic scheme is replaced")
    func basicForm() async throws {
        let app = try await App.signedIn {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, _ in
                    let token = request.headerFields[.authorization]?.dropFirst("Bearer ".count) ?? ""
                    let credentials = Data("oauth2:\(token)".utf8).base64EncodedString()
                    request.headerFields[.authorization] = "Basic \(credentials)"
                })
            ]
        }
        let first = "Basic " + Data("oauth2:access-1".utf8).base64EncodedString()
        app.backend.beforeCall { request in
            request.headers[.authorization] == first ? .status(401) : .json(#"{"path":"/me","token":"seen"}"#)
        }
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").count == 2)
    }

    @Test(
        "C88: a POST that the server has performed is not sent again if its result may not be shown",
        arguments: [302, 303])
    func redirectedToRejection(status: Int) async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { request in
            switch request.path {
            case "/orders": .status(status, headers: [.location: "/orders/1"])
            case "/orders/1": .status(401)
            default: nil
            }
        }
        let failure = await error { try await app.client.send(Post("/orders", .text("x"), .ifSignedIn)) }
        guard case .unauthorized = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(app.transport.requests.map(\.path).filter { $0.hasPrefix("/orders") } == ["/orders", "/orders/1"])
        // The rejection counts for later calls.
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-2"])
    }

    @Test("C88: a PUT, or a POST with a key, is sent again if its result may not be shown", arguments: [true, false])
    func redirectedHarmlessly(isPut: Bool) async throws {
        let app = try await App.signedIn { $0.interceptors = [IdempotencyKeys()] }
        app.backend.beforeCall { request in
            switch request.path {
            case "/orders": .status(303, headers: [.location: "/orders/1"])
            case "/orders/1": .status(request.bearer == "access-1" ? 401 : 204)
            default: nil
            }
        }
        try await app.client.send(Call<NoContent>(isPut ? .put : .post, "/orders"))
        #expect(app.transport.requests(to: "/orders").map(\.bearer) == ["access-1", "access-2"])
        let keys = app.transport.requests(to: "/orders").map { $0.headers[.idempotencyKey] }
        #expect(isPut ? keys == [nil, nil] : keys[0] != nil && keys[0] == keys[1])
    }

    @Test("C88: a POST that was redirected as it is, and then rejected, is sent again") func redirectedAsItIs()
        async throws
    {
        let app = try await App.signedIn()
        app.backend.beforeCall { request in
            switch request.path {
            case "/orders": .status(307, headers: [.location: "/v2/orders"])
            case "/v2/orders": .status(request.bearer == "access-1" ? 401 : 204)
            default: nil
            }
        }
        try await app.client.send(Post("/orders", .text("x"), .ifSignedIn))
        #expect(app.transport.requests(to: "/v2/orders").map(\.bearer) == ["access-1", "access-2"])
    }

    @Test(
        "C88: a redirect that arrives after the token has expired is followed with a new one, or not at all",
        arguments: Refresh.allCases)
    func redirect(refresh: Refresh) async throws {
        let (backend, time) = (SimulatedBackend(), ManualTimeSource())
        backend.state.withLock { $0.lifetime = 10 }
        backend.beforeCall { request in
            guard request.path == "/me" else { return nil }
            time.advance(by: .seconds(11))
            return .status(307, headers: [.location: "/moved"])
        }
        if refresh == .fails { backend.beforeRefresh { _ in .status(503) } }
        let app = App(backend, time: time) { $0.retry = .never }
        try await app.tokens.signIn(with: backend.issue())
        let result = await app.call()
        switch refresh {
        case .succeeds:
            #expect(result.isSuccess)
            #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1"])
            #expect(app.transport.requests(to: "/moved").map(\.bearer) == ["access-2"])
        case .fails:
            guard case .refreshFailed = result.error else {
                Issue.record("the call went on")
                return
            }
            #expect(backend.calls(to: "/moved") == 0)
        }
    }

    /// The result of a refresh at the token endpoint while a call waits.
    enum Refresh: CaseIterable, Sendable { case succeeds, fails }

    @Test(
        "C88: a call that waits for a slot until its token has expired is not sent with it", arguments: Refresh.allCases
    )
    func slot(refresh: Refresh) async throws {
        let (backend, gate) = (SimulatedBackend(), Gate())
        backend.state.withLock { $0.lifetime = 10 }
        backend.beforeCall { request in
            guard request.path == "/slow" else { return nil }
            await gate.pass()
            return .status(204)
        }
        if refresh == .fails { backend.beforeRefresh { _ in .status(503) } }
        let app = try await App.signedIn(backend) {
            $0.maximumConcurrentRequests = 1
            $0.retry = .never
        }
        let slow = Task { try await app.client.data(for: Get("/slow", .none)) }
        await gate.waitForArrivals()
        let waiting = Task { await app.call() }
        let origin = try #require(Origin("https://api.example.com"))
        while app.client.pipeline.slots.waitingCount(for: origin) == 0 { await Task.yield() }
        app.time.advance(by: .seconds(11))
        gate.open()
        _ = try await slow.value
        let result = await waiting.value
        switch refresh {
        case .succeeds:
            #expect(result.isSuccess)
            #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-2"])
        case .fails:
            guard case .refreshFailed = result.error else {
                Issue.record("the call went on")
                return
            }
            #expect(app.backend.calls(to: "/me") == 0)
        }
        // The slot is free again.
        #expect(try await app.client.data(for: Get("/public", .none)).status == 200)
    }
}

extension HTTPField.Name {
    /// A field whose value is never logged.
    fileprivate static var xSignature: HTTPField.Name { HTTPField.Name("X-Signature") ?? .authorization }
}
