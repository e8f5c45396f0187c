import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: rejections and refresh dialects", .timeLimit(.minutes(10))) struct DialectConformanceTests {
    @Test("C46: a 403 does not start a refresh, unless configured") func forbidden() async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { _ in .status(403) }
        guard case .unacceptableStatus = await app.call().error else {
            Issue.record("the 403 should be the error")
            return
        }
        #expect(app.backend.refreshCalls == 0)

        let strict = try await App.signedIn(rejection: .status(401, 403))
        strict.backend.beforeCall { $0.bearer == "access-1" ? .status(403) : nil }
        #expect(await strict.call().isSuccess)
        #expect(strict.backend.refreshCalls == 1)
    }

    @Test(
        "C47: UNAUTHENTICATED in a GraphQL response with status 200 causes a refresh and a replay") func graphQL()
        async throws
    {
        let app = try await App.signedIn(rejection: .graphQL)
        app.backend.beforeCall { request in
            request.bearer == "access-1"
                ? .json(#"{"errors":[{"message":"no","extensions":{"code":"UNAUTHENTICATED"}}]}"#) : nil
        }
        #expect(await app.call().isSuccess)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C58: if 419 means expired, a 401 does not start a refresh") func status419() async throws {
        let app = try await App.signedIn(rejection: .status(419))
        app.backend.beforeCall { request in
            if request.path == "/forbidden" { return .status(401) }
            return request.bearer == "access-1" ? .status(419) : nil
        }
        #expect(await app.call().isSuccess)
        #expect(app.backend.refreshCalls == 1)
        guard case .unauthorized = await app.call("/forbidden").error else {
            Issue.record("the 401 should be the error")
            return
        }
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C59: a refresh that returns only an access token rewrites the record") func accessTokenOnly() async throws {
        let store = InMemoryTokenStore()
        let backend = SimulatedBackend()
        let transport = backend.transport
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: backend.issue())
        backend.beforeRefresh { _ in .json(#"{"token":"only"}"#) }
        try await tokens.refresh()
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.tokens.accessToken == "only")
        #expect(record.tokens.refreshToken == "refresh-1")
        #expect(record.rotation == 1)
    }

    @Test("C60: a refresh token in a header is sent with the refresh request only") func headerDialect()
        async throws
    {
        let backend = SimulatedBackend()
        let transport = StubTransport { request in
            guard request.path == "/auth/refresh" else { return .status(request.bearer == "new" ? 204 : 401) }
            return .json(#"{"accessToken":"new","refreshToken":"next"}"#)
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .header(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: backend.issue())
        let client = NetworkClient(tokens: tokens)
        try await client.send(Get("/me"))
        let refresh = try #require(transport.requests(to: "/auth/refresh").first)
        #expect(refresh.method == .get)
        #expect(refresh.headers[.refreshToken] == "refresh-1")
        #expect(refresh.bearer == "access-1")
        #expect(transport.requests(to: "/me").allSatisfy { $0.headers[.refreshToken] == nil })
        #expect(transport.requests(to: "/auth/refresh").count == 1)
    }

    @Test("C61: a 401 from the refresh endpoint is terminal at once") func refresh401() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in .status(401) }
        guard case .sessionExpired(_, .refreshTokenRejected, let response) = await app.call().error else {
            Issue.record("the session did not expire")
            return
        }
        #expect(response?.status == 401)
        #expect(app.backend.refreshCalls == 1)
    }
}
