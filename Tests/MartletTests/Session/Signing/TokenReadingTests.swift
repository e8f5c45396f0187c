import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Reading the session's tokens", .timeLimit(.minutes(10))) struct TokenReadingTests {
    @Test("the tokens are there from the sign-in to the sign-out, without a request") func life() async throws {
        let app = App()
        #expect(app.tokens.currentTokens == nil && !app.tokens.isSignedIn)
        await app.tokens.restore()
        #expect(app.tokens.currentTokens == nil && !app.tokens.isSignedIn)

        var issued = app.backend.issue()
        issued.scope = "notes"
        issued.tokenType = "Bearer"
        try await app.tokens.signIn(with: issued)
        let tokens = try #require(app.tokens.currentTokens)
        #expect(app.tokens.isSignedIn)
        #expect(tokens.accessToken == "access-1" && tokens.refreshToken == "refresh-1")
        #expect(tokens.scope == "notes" && tokens.tokenType == "Bearer")
        #expect(app.tokens.currentTokens == tokens)

        await app.tokens.signOut()
        #expect(app.tokens.currentTokens == nil && !app.tokens.isSignedIn)
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("the tokens that a manager returns expire by this device's clock") func expiry() async throws {
        let app = try await App.signedIn()
        let tokens = try #require(app.tokens.currentTokens)
        #expect(tokens.expiresAt == app.time.wallClock.addingTimeInterval(3600) && tokens.lifetime == nil)
        #expect(!tokens.isExpired(at: app.time.wallClock))
        app.time.advance(by: .seconds(3599))
        #expect(!tokens.isExpired(at: app.time.wallClock))
        app.time.advance(by: .seconds(1))
        #expect(tokens.isExpired(at: app.time.wallClock))
        #expect(app.tokens.currentTokens == tokens && app.tokens.isSignedIn)

        let next = try await app.tokens.validTokens()
        #expect(next.accessToken == "access-2" && !next.isExpired(at: app.time.wallClock))
        #expect(app.tokens.currentTokens == next)
    }

    @Test("the expiry survives a restart, and a server's clock that is wrong does not matter") func restart()
        async throws
    {
        let store = InMemoryTokenStore()
        let app = App(store: store)
        var issued = app.backend.issue()
        let serversNow = app.time.wallClock.addingTimeInterval(-86400)
        (issued.lifetime, issued.expiresAt, issued.serverDate) = (nil, serversNow.addingTimeInterval(600), serversNow)
        try await app.tokens.signIn(with: issued)
        let expiry = app.time.wallClock.addingTimeInterval(600)
        #expect(app.tokens.currentTokens?.expiresAt == expiry)

        let restarted = App(app.backend, store: store, time: app.time)
        #expect(restarted.tokens.currentTokens == nil)
        await restarted.tokens.restore()
        #expect(restarted.tokens.currentTokens?.expiresAt == expiry)
        #expect(restarted.tokens.currentTokens?.serverDate == nil)
    }

    @Test("a token whose lifetime is unknown does not expire until the server rejects it") func unknownLifetime()
        async throws
    {
        let app = App()
        app.backend.state.withLock { $0.lifetime = nil }
        var issued = app.backend.issue()
        // No server issues a token that has expired, so the date means nothing.
        issued.expiresAt = Date(timeIntervalSince1970: 1)
        try await app.tokens.signIn(with: issued)
        let tokens = try await app.tokens.validTokens()
        #expect(tokens.expiresAt == nil && !tokens.isExpired(at: .distantFuture))
    }

    @Test("tokens that are passed to another manager keep their expiry") func handedOn() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(3000))
        let other = App(app.backend, time: app.time)
        let tokens = try #require(app.tokens.currentTokens)
        try await other.tokens.signIn(with: JSONDecoder().decode(Tokens.self, from: JSONEncoder().encode(tokens)))
        #expect(try await other.tokens.validTokens() == tokens)
        app.time.advance(by: .seconds(601))
        #expect(try await other.tokens.validTokens().accessToken == "access-2")
    }

    @Test("callers share one refresh, and get its tokens") func shared() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(3600))
        try await withThrowingTaskGroup(of: Tokens.self) { group in
            for _ in 0..<50 { group.addTask { try await app.tokens.validTokens() } }
            for try await tokens in group { #expect(tokens.accessToken == "access-2") }
        }
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("without a valid token the error is that of the session") func failures() async throws {
        let app = App()
        await #expect(throws: SessionError.signedOut) { try await app.tokens.validTokens() }
        try await app.tokens.signIn(with: app.backend.issue())
        app.backend.revokeSession()
        app.time.advance(by: .seconds(3600))
        let expiry = await #expect(throws: SessionError.self) { try await app.tokens.validTokens() }
        guard case .expired = expiry else {
            Issue.record("\(String(describing: expiry))")
            return
        }
        #expect(app.tokens.currentTokens == nil && !app.tokens.isSignedIn)
    }

    @Test("offline, the user stays signed in and the expired tokens stay readable") func offline() async throws {
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in throw TransportError.offline }
        app.time.advance(by: .seconds(3600))
        await #expect(throws: SessionError.self) { try await app.tokens.validTokens() }
        #expect(app.tokens.isSignedIn)
        #expect(app.tokens.currentTokens?.isExpired(at: app.time.wallClock) == true)
    }

    @Test("tokens that are being saved are not handed out yet") func saving() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        let gate = Gate()
        // The first write is the journal's, the one after the response that of the new tokens.
        app.backend.afterRefresh { _ in
            store.hold(.write, at: gate)
            return nil
        }
        let refresh = Task { try await app.tokens.refresh() }
        await gate.waitForArrivals()
        #expect(app.tokens.currentTokens?.accessToken == "access-1")
        gate.open()
        _ = try await refresh.value
        #expect(app.tokens.currentTokens?.accessToken == "access-2")
    }

    @Test("while another user's sign-in is being saved, there are no tokens to read") func replacing() async throws {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        let gate = Gate()
        store.hold(.write, at: gate)
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        #expect(app.tokens.currentTokens == nil)
        gate.open()
        let session = try await signIn.value
        #expect(app.tokens.currentTokens?.accessToken == "access-2" && app.tokens.state == .signedIn(session))
    }

    @Test("a dump of the client after a call shows no token") func dumpedClient() async throws {
        let app = try await App.signedIn { $0.observers = [] }
        #expect(await app.call().isSuccess)
        var text = ""
        dump(app.client, to: &text)
        #expect(text.contains("NetworkClient"))
        #expect(!text.contains("access-1"))
    }
}
