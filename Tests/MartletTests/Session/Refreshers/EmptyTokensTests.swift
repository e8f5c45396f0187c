import MartletTesting
import Testing

@testable import Martlet

@Suite("Empty tokens of a refresher", .timeLimit(.minutes(10))) struct EmptyTokensTests {
    private func manager(returning tokens: Tokens) async throws -> TokenManager {
        let manager = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .custom { _, _ in tokens },
            transport: StubTransport(), time: ManualTimeSource())
        try await manager.signIn(with: .fresh(1))
        return manager
    }

    @Test("an empty refresh token leaves the one before in place") func refreshToken() async throws {
        let manager = try await manager(returning: Tokens(accessToken: "new", refreshToken: ""))
        #expect(try await manager.refresh().refreshToken == "refresh-1")
    }

    @Test("an empty access token is a failure, and the session continues") func accessToken() async throws {
        let manager = try await manager(returning: Tokens(accessToken: "", refreshToken: "new"))
        let failure = await #expect(throws: SessionError.self) { try await manager.refresh() }
        guard case .refreshFailed(let error)? = failure else {
            Issue.record("the refresh did not fail: \(String(describing: failure))")
            return
        }
        #expect(error.kind == .unreadableResponse)
        #expect(try await manager.validTokens().accessToken == "access-1")
    }
}
