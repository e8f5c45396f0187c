import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The token endpoint", .timeLimit(.minutes(10))) struct TokenEndpointTests {
    @Test("a token quoted in an error of the token endpoint is not shown") func quotedToken() async throws {
        let secret = "eyJhbGciOiJub25lIn0abcdef0123456789"
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in .json(#"{"error":"token \#(secret) is unknown"}"#, status: 401) }
        let failure = await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(!"\(String(describing: failure)) \(app.tokens.state)".contains(secret))
    }

    @Test("a revocation that the server rejects is not reported as revoked") func rejectedRevocation() async throws {
        let transport = StubTransport { _ in .status(401) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: .fresh())
        var events = tokens.events.makeAsyncIterator()
        await tokens.signOut()
        while let event = await events.next() {
            #expect(event != .revoked)
            if case .revocationFailed = event { break }
        }
    }

    @Test("a refresher that exceeds its time limit is cancelled") func cancelledRefresher() async throws {
        let (time, atServer, isOver, log) = (ManualTimeSource(), Gate(), Gate(), Log())
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .custom { _, _ in
                await withTaskCancellationHandler {
                    await atServer.pass()
                } onCancel: {
                    atServer.open()
                }
                log.add(Task.isCancelled ? "cancelled" : "not cancelled")
                isOver.open()
                return .fresh(2)
            }, transport: StubTransport { _ in .status(404) }, time: time)
        try await tokens.signIn(with: .fresh(1))
        let refresh = Task { try await tokens.refresh() }
        await atServer.waitForArrivals()
        await time.waitForSleepers()
        time.advance(by: SessionPolicy().attemptTimeout)
        await #expect(throws: SessionError.self) { try await refresh.value }
        await isOver.pass()
        #expect(log.lines == ["cancelled"])
    }

    @Test("the header fields of a refresher override those of the manager") func refresherFields() async throws {
        let transport = StubTransport { _ in .json(#"{"accessToken":"a"}"#) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .oauth2(client: OAuthClient(id: "i", secret: "s")),
            headers: [.contentType: "application/json", .authorization: "ApiKey k", .via: "x"], transport: transport,
            time: ManualTimeSource())
        try await tokens.signIn(with: .fresh())
        try await tokens.refresh()
        let fields = try #require(transport.requests.first).headers
        #expect(fields[values: .contentType] == ["application/x-www-form-urlencoded"])
        #expect(fields[values: .authorization] == ["Basic aTpz"])
        #expect(fields[.via] == "x")
    }
}
