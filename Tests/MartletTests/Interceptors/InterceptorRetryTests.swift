import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Retries of changed requests", .timeLimit(.minutes(10))) struct InterceptorRetryTests {
    /// Retries the first failure with a changed request.
    private func retrying(
        after wait: Duration = .zero, _ change: @escaping @Sendable (inout HTTPRequest, inout RequestContext) -> Void
    ) -> ClosureInterceptor {
        ClosureInterceptor(onRetry: { request, context, _ in
            guard context.attempt == 1 else { return .noOpinion }
            var request = request
            change(&request, &context)
            return .retryWith(request, after: wait)
        })
    }

    @Test("all further attempts start from the request that the retry hands over") func changed() async throws {
        let transport = StubTransport { .status($0.number < 3 ? 503 : 204) }
        let client = client(transport) {
            $0.retry = RetryPolicy(methods: [.post], random: { _ in 0 })
            $0.interceptors = [
                retrying { request, context in
                    request.path = "/fallback"
                    request.headerFields[.via] = "retry"
                    context.appendToBody("-again")
                }, ClosureInterceptor(onAdapt: { $1.appendToBody("-\($1.attempt)") }),
            ]
        }
        try await client.send(Post("/a"))
        let sent = transport.requests.map { "\($0.path) \($0.text) \($0.headers[.via] ?? "-")" }
        #expect(sent == ["/a x-1 -", "/fallback x-again-2 retry", "/fallback x-again-3 retry"])
    }

    @Test("a third party's 401 to a later attempt says nothing about the token of the first")
    func elsewhere() async throws {
        let app = try await App.signedIn {
            $0.interceptors = [retrying { request, _ in request.authority = "mirror.example.net" }]
            $0.retry = .never
        }
        app.backend.beforeCall { .status($0.request.authority == "mirror.example.net" ? 401 : 503) }
        let error = await app.call().error
        guard case .unauthorized = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(app.transport.requests.map(\.bearer) == ["access-1", nil])
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("the wait uses the client's clock, and a decision without another request keeps a new body") func waits()
        async throws
    {
        let time = ManualTimeSource()
        let transport = StubTransport { .status($0.number < 3 ? 418 : 204) }
        let client = client(transport) {
            $0.time = time
            $0.interceptors = [
                retrying(after: .seconds(5)) { request, _ in request.path = "/b" },
                ClosureInterceptor(onRetry: { _, context, _ in
                    context.appendToBody("y")
                    return .retryAfter(.seconds(5))
                }),
            ]
        }
        let call = Task { try await client.send(Post("/a")) }
        for _ in 0..<2 {
            await time.waitForSleepers(2)
            time.advance(by: .seconds(5))
        }
        try await call.value
        #expect(transport.requests.map { "\($0.path) \($0.text)" } == ["/a x", "/b x", "/b xy"])
    }

    @Test("a request that is retried at a third party takes neither the token nor what others have added")
    func thirdParty() async throws {
        let app = try await App.signedIn {
            $0.headers = [.acceptLanguage: "de"]
            $0.interceptors = [
                ClosureInterceptor(onPrepare: { request, context in
                    request.headerFields[.via] = "other"
                    context.appendToBody("-other")
                }),
                retrying { request, _ in
                    request.authority = "mirror.example.net"
                    request.headerFields[.userAgent] = "retry"
                },
            ]
        }
        app.backend.beforeCall { .status($0.number == 1 ? 503 : 204) }
        try await app.client.send(Post("/a", .text("x"), .required))
        #expect(app.transport.requests.map(\.bearer) == ["access-1", nil])
        #expect(app.transport.requests.map(\.text) == ["x-other", "x"])
        let sent = try #require(app.transport.requests.last)
        #expect(sent.request.authority == "mirror.example.net")
        #expect(sent.headers[.via] == nil)
        #expect(sent.headers[.acceptLanguage] == nil)
        #expect(sent.headers[.userAgent] == "retry")
    }

    @Test("a request that returns from a third party is signed again, and not in between")
    func backHome() async throws {
        let signatures = Locked<[Bool]>([])
        let app = try await App.signedIn {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { _, context in
                    let isSigned = context.stamp != nil
                    signatures.withLock { $0.append(isSigned) }
                }),
                ClosureInterceptor(onRetry: { request, context, _ in
                    guard context.attempt < 3 else { return .noOpinion }
                    var request = request
                    request.authority = context.attempt == 1 ? "mirror.example.net" : "api.example.com"
                    return .retryWith(request)
                }),
            ]
        }
        app.backend.beforeCall { .status($0.number < 3 ? 418 : 204) }
        try await app.client.send(Post("/a", .text("x"), .required))
        #expect(app.transport.requests.map(\.bearer) == ["access-1", nil, "access-1"])
        #expect(signatures.withLock(\.self) == [true, false, true])
    }

    @Test("a changed request is replayed with a new token") func replayed() async throws {
        let app = try await App.signedIn { $0.interceptors = [retrying { request, _ in request.path = "/b" }] }
        app.backend.beforeCall { [backend = app.backend] in
            guard $0.number == 1 else { return nil }
            backend.invalidateAccessTokens()
            return .status(418)
        }
        try await app.client.send(Post("/a", .text("x"), .required))
        let calls = app.transport.requests.filter { $0.path != "/auth/refresh" }
        #expect(calls.map { "\($0.path) \($0.bearer ?? "")" } == ["/a access-1", "/b access-1", "/b access-2"])
    }

    @Test("plain HTTP is refused") func insecure() async throws {
        let transport = StubTransport { _ in .status(418) }
        let client = client(transport) { $0.interceptors = [retrying { request, _ in request.scheme = "http" }] }
        let failure = await error { try await client.send(Post("/a")) }
        guard case .insecureURL = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.requests.count == 1)
    }
}
