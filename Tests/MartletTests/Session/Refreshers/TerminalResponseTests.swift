import MartletTesting
import Testing

@testable import Martlet

@Suite("Responses that end a session") struct TerminalResponseTests {
    @Test(
        "with OAuth, the code invalid_grant ends the session if the status is 400 or 401",
        arguments: [(400, true), (401, true), (402, false), (403, false)])
    func invalidGrant(status: Int, ends: Bool) async throws {
        #expect(try await isSignedIn(after: .json(#"{"error":"invalid_grant"}"#, status: status)) != ends)
    }

    @Test("with OAuth, another code does not end the session", arguments: [400, 401])
    func otherCode(status: Int) async throws {
        #expect(try await isSignedIn(after: .json(#"{"error":"invalid_client"}"#, status: status)))
    }

    private func isSignedIn(after response: StubTransport.Response) async throws -> Bool {
        let stub = StubTransport()
        stub.when(.post, "/oauth/token").respond(response)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .oauth2(), transport: stub)
        try await tokens.signIn(with: .fresh(1))
        await #expect(throws: SessionError.self) { try await tokens.refresh() }
        return tokens.state.isSignedIn
    }
}
