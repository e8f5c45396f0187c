import MartletTesting
import Testing

@testable import Martlet

@Suite("A session behind its protocol", .timeLimit(.minutes(10))) struct TokenManagingTests {
    /// An adapter as an app writes it.
    private struct Connection {
        let tokens: any TokenManaging

        func authorization() async throws(SessionError) -> String {
            "Bearer " + (try await tokens.validTokens().accessToken.reveal())
        }
    }

    private struct Mock: TokenManaging {
        var state = SessionState.signedOut
        var currentTokens: Tokens?
        let signOuts = Log()
        var states: AsyncStream<SessionState> { AsyncStream { $0.yield(state) } }

        func validTokens() async throws(SessionError) -> Tokens {
            guard let currentTokens else { throw .signedOut }
            return currentTokens
        }
        func refresh() async throws(SessionError) {}
        func signOut(waitingForServer limit: Duration) async { signOuts.add("\(limit)") }
    }

    @Test("an adapter uses a manager without knowing it") func manager() async throws {
        let app = try await App.signedIn()
        let connection = Connection(tokens: app.tokens)
        #expect(await connection.tokens.restore() == app.tokens.state)
        #expect(try await connection.authorization() == "Bearer access-1")
        try await connection.tokens.refresh()
        #expect(try await connection.authorization() == "Bearer access-2")
        #expect(connection.tokens.currentTokens?.accessToken == "access-2")
        #expect(connection.tokens.isSignedIn && connection.tokens.state == app.tokens.state)

        await connection.tokens.signOut()
        #expect(!connection.tokens.isSignedIn && connection.tokens.currentTokens == nil)
        #expect(await connection.tokens.states.first { _ in true } == .signedOut)
        await #expect(throws: SessionError.signedOut) { try await connection.authorization() }
    }

    @Test("a mock needs neither a server nor a store") func mock() async throws {
        let session = SignedInSession(id: SessionID(rawValue: "1"))
        let mock = Mock(state: .signedIn(session), currentTokens: .fresh(7))
        #expect(try await Connection(tokens: mock).authorization() == "Bearer access-7")
        #expect(mock.isSignedIn && !Mock().isSignedIn)
        #expect(await mock.restore() == mock.state)
        await #expect(throws: SessionError.signedOut) { try await Connection(tokens: Mock()).authorization() }
        await mock.signOut()
        #expect(mock.signOuts.lines == ["\(Duration.zero)"])
    }
}
