import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A refresh token as a bearer token", .timeLimit(.minutes(10))) struct BearerPlacementTests {
    private func manager(_ stub: StubTransport) -> TokenManager {
        TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .bearer(path: "/auth/refresh"),
            revoker: TokenRevoker(path: "/auth/logout", placement: .bearer), transport: stub, time: ManualTimeSource())
    }

    @Test("a refresh is a POST without a body, with the refresh token in Authorization") func refresh() async throws {
        let stub = StubTransport()
        let refresh = stub.when(.post, "/auth/refresh").respond(.tokens(.fresh(2)))
        let tokens = manager(stub)
        try await tokens.signIn(with: .fresh(1))
        try await tokens.refresh()
        let request = try #require(refresh.requests.first)
        #expect(request.headers[.authorization] == "Bearer refresh-1")
        #expect(request.body.isEmpty)
        #expect(try await tokens.validTokens().accessToken.reveal() == "access-2")
    }

    @Test("in the header field Authorization, the refresh token is a bearer token and replaces the access token")
    func authorizationField() async throws {
        let stub = StubTransport()
        let refresh = stub.when(.get, "/auth/refresh").respond(.tokens(.fresh(2)))
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .header(path: "/auth/refresh", header: .authorization), transport: stub, time: ManualTimeSource()
        )
        try await tokens.signIn(with: .fresh(1))
        try await tokens.refresh()
        #expect(refresh.requests.map { $0.headers[.authorization] } == ["Bearer refresh-1"])
    }

    @Test("a 401 ends the session, a 503 does not") func rejection() async throws {
        let stub = StubTransport()
        stub.when(.post, "/auth/refresh").respond(.status(503)).respond(.status(401))
        let tokens = manager(stub)
        try await tokens.signIn(with: .fresh(1))
        await #expect(throws: SessionError.self) { try await tokens.refresh() }
        #expect(tokens.state.isSignedIn)
        let again = manager(stub)
        try await again.signIn(with: .fresh(1))
        await #expect(throws: SessionError.expired(.refreshTokenRejected(code: nil))) { try await again.refresh() }
    }

    @Test("a revocation carries the refresh token and not the access token") func revocation() async throws {
        let stub = StubTransport()
        let logout = stub.when(.post, "/auth/logout").respond(.status(204))
        let tokens = manager(stub)
        try await tokens.signIn(with: .fresh(1))
        var events = tokens.events.makeAsyncIterator()
        await tokens.signOut()
        while let event = await events.next() {
            if case .revoked = event { break }
        }
        #expect(logout.requests.map { $0.headers[.authorization] } == ["Bearer refresh-1"])
    }
}
