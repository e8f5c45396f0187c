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
        let signIns = Log()
        let signOuts = Log()
        var states: AsyncStream<SessionState> { AsyncStream { $0.yield(state) } }

        func validTokens() async throws(SessionError) -> Tokens {
            guard let currentTokens else { throw .signedOut }
            return currentTokens
        }
        func refresh() async throws(SessionError) -> Tokens { try await validTokens() }
        func signIn(
            with tokens: Tokens, account: SessionAccount
        ) async throws(SessionError) -> SignedInSession {
            signIns.add("\(account.userID ?? "anyone") has \(tokens.accessToken.reveal())")
            return SignedInSession(id: SessionID(rawValue: "1"), account: account)
        }
        func signOut(waitingForServer limit: Duration) async -> Bool {
            signOuts.add("\(limit)")
            return true
        }
    }

    @Test("an adapter uses a manager without knowing it") func manager() async throws {
        let app = try await App.signedIn()
        let connection = Connection(tokens: app.tokens)
        #expect(await connection.tokens.restore() == app.tokens.state)
        #expect(try await connection.authorization() == "Bearer access-1")
        let refreshed = try await connection.tokens.refresh()
        #expect(refreshed.accessToken == "access-2" && refreshed.refreshToken == "refresh-2")
        #expect(refreshed == connection.tokens.currentTokens)
        #expect(try await connection.authorization() == "Bearer access-2")
        #expect(connection.tokens.isSignedIn && connection.tokens.state == app.tokens.state)

        await connection.tokens.signOut()
        #expect(!connection.tokens.isSignedIn && connection.tokens.currentTokens == nil)
        #expect(await connection.tokens.states.first { _ in true } == .signedOut)
        await #expect(throws: SessionError.signedOut) { try await connection.authorization() }
        await #expect(throws: SessionError.signedOut) { try await connection.tokens.refresh() }

        let session = try await connection.tokens.signIn(with: app.backend.issue())
        #expect(connection.tokens.state == .signedIn(session) && session.account == SessionAccount())
        let next = try await connection.tokens.signIn(with: app.backend.issue(), account: SessionAccount(userID: "42"))
        #expect(next.account.userID == "42" && next.id != session.id)
    }

    @Test("concurrent callers of a refresh share it, and get the same tokens") func shared() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let first = Task { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        let second = Task { try await app.tokens.refresh() }
        for _ in 0..<1000 { await Task.yield() }
        gate.open()
        #expect(try await first.value.accessToken == "access-2")
        #expect(try await second.value.accessToken == "access-2")
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("a refresh returns no tokens of a user who signs in while it runs") func nextUser() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let refresh = Task { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: app.backend.issue())
        gate.open()
        await #expect(throws: SessionError.sessionChanged) { try await refresh.value }
    }

    @Test("a mock needs neither a server nor a store") func mock() async throws {
        let session = SignedInSession(id: SessionID(rawValue: "1"))
        let mock = Mock(state: .signedIn(session), currentTokens: .fresh(7))
        #expect(try await Connection(tokens: mock).authorization() == "Bearer access-7")
        #expect(mock.isSignedIn && !Mock().isSignedIn)
        #expect(await mock.restore() == mock.state)
        await #expect(throws: SessionError.signedOut) { try await Connection(tokens: Mock()).authorization() }
        let tokens: any TokenManaging = mock
        try await tokens.signIn(with: .fresh(8))
        try await tokens.signIn(with: .fresh(9), account: SessionAccount(userID: "Ada"))
        #expect(mock.signIns.lines == ["anyone has access-8", "Ada has access-9"])
        #expect(try await tokens.refresh().accessToken == "access-7")
        await mock.signOut()
        #expect(mock.signOuts.lines == ["\(Duration.zero)"])
    }
}
