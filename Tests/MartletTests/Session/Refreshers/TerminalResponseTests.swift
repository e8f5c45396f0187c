import MartletTesting
import Testing

@testable import Martlet

@Suite("Responses that end a session", .timeLimit(.minutes(10))) struct TerminalResponseTests {
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

    @Test("a rule combines statuses with codes at their own statuses")
    func combined() async throws {
        let rule = SessionEndRule.status(410).or(.code("CLOSED", status: 409)).or(.code("GONE"))
        let refresher = HTTPTokenRefresher(path: "/oauth/token", placement: .bearer, sessionEnd: rule)
        for (response, ends) in [
            (StubTransport.Response.status(410), true), (.json(#"{"code":"CLOSED"}"#, status: 409), true),
            (.json(#"{"code":"CLOSED"}"#, status: 400), false), (.json(#"{"errorCode":"GONE"}"#, status: 401), true),
            (.json(#"{"code":"OTHER"}"#, status: 409), false), (.status(401), false),
        ] {
            #expect(try await isSignedIn(after: response, refresher: refresher) != ends, "\(response)")
        }
    }

    @Test("a number counts as a code, even in a 200") func numbers() async throws {
        let refresher = HTTPTokenRefresher(
            path: "/oauth/token", placement: .bearer, sessionEnd: .code("40103", status: 200))
        #expect(try await isSignedIn(after: .json(#"{"code":40103,"data":null}"#), refresher: refresher) == false)
    }

    @Test("no rule makes a transient failure terminal", arguments: [302, 408, 429, 500, 503])
    func neverTerminal(status: Int) async throws {
        let rule = SessionEndRule.status(status).or(.code("DEAD", status: status))
        let refresher = HTTPTokenRefresher(path: "/oauth/token", placement: .bearer, sessionEnd: rule)
        #expect(try await isSignedIn(after: .json(#"{"code":"DEAD"}"#, status: status), refresher: refresher))
    }

    private func isSignedIn(
        after response: StubTransport.Response, refresher: HTTPTokenRefresher = .oauth2()
    ) async throws -> Bool {
        let stub = StubTransport()
        stub.when(.post, "/oauth/token").respond(response)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: refresher, transport: stub,
            time: ManualTimeSource())
        try await tokens.signIn(with: .fresh(1))
        await #expect(throws: SessionError.self) { try await tokens.refresh() }
        return tokens.state.isSignedIn
    }
}
