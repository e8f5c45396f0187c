import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: the session and the app", .timeLimit(.minutes(10))) struct SessionConformanceTests {
    @Test("C13: signing out during a refresh discards and revokes its result") func signOutDuringRefresh()
        async throws
    {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        let gate = Gate()
        app.backend.afterRefresh { _ in
            await gate.pass()
            return nil
        }
        var events = app.tokens.events.makeAsyncIterator()
        async let call = app.call()
        await gate.waitForArrivals()
        await app.tokens.signOut()
        gate.open()
        #expect(await !call.isSuccess)
        var revocations = 0
        while revocations < 2, let event = await events.next() {
            if event == .revoked { revocations += 1 }
        }
        #expect(app.backend.revoked.contains { $0.contains("refresh-2") })
        #expect(await store.read().isEmpty)
        #expect(app.tokens.state == .signedOut)
    }

    @Test(
        "C14, C15: the outcome of a former session's refresh does not affect the new session", arguments: [true, false])
    func switchDuringRefresh(succeeds: Bool) async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return succeeds ? nil : .json(#"{"error":"invalid_grant"}"#, status: 400)
        }
        var events = app.tokens.events.makeAsyncIterator()
        async let call = app.call()
        await gate.waitForArrivals()
        let other = try await app.tokens.signIn(
            with: Tokens(accessToken: "other", refreshToken: "other-refresh"))
        gate.open()
        guard case .sessionChanged = await call.error else {
            Issue.record("a call of the former session continued")
            return
        }
        while let event = await events.next() {
            if case .refreshDiscarded = event { break }
        }
        #expect(app.tokens.state == .signedIn(other))
        #expect(try await app.tokens.validTokens().accessToken == "other")
    }

    @Test("C16: a call in flight is not replayed with the next user's token") func switchInFlight() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeCall { request in
            guard request.method == .post else { return nil }
            await gate.pass()
            return .status(401)
        }
        struct Post: APIEndpoint {
            let path: RequestPath = "/orders"
            let method = HTTPRequest.Method.post
            let authentication = AuthenticationRequirement.required
        }
        let call = Task { () -> NetworkError? in
            do throws(NetworkError) { try await app.client.send(Post()) } catch { return error }
            return nil
        }
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: app.backend.issue())
        gate.open()
        guard case .sessionChanged = await call.value else {
            Issue.record("a call of the former session continued")
            return
        }
        #expect(app.transport.requests(to: "/orders").count == 1)
    }

    @Test("C17: calls that wait for the former session's refresh are not sent with the next user's token")
    func switchWhileQueued() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(3601))
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        async let results = app.burst(10)
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: app.backend.issue())
        gate.open()
        for result in await results {
            // A call that asked for its token only after the switch belongs to the new session.
            if result.isSuccess { continue }
            guard case .sessionChanged = result.error else {
                Issue.record("\(String(describing: result.error))")
                continue
            }
        }
        #expect(app.transport.requests(to: "/me").allSatisfy { $0.bearer == "access-2" })
    }

    @Test(
        "C19, C63: a failing store does not sign the user out, and the write is retried") func storeFails() async throws
    {
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        store.isLocked = true
        var events = app.tokens.events.makeAsyncIterator()
        #expect(await app.burst(10).allSucceeded)
        guard case .signedIn(let session) = app.tokens.state else {
            Issue.record("\(app.tokens.state)")
            return
        }
        #expect(!session.isSaved)
        var hasFailed = false
        while !hasFailed, let event = await events.next() {
            if case .storeWriteFailed = event { hasFailed = true }
        }
        store.isLocked = false
        await app.time.waitForSleepers()
        app.time.advance(by: .seconds(1))
        while let event = await events.next() {
            if case .storeRecovered = event { break }
        }
        #expect(await store.record?.tokens.refreshToken == "refresh-2")
        guard case .signedIn(let saved) = app.tokens.state else { return }
        #expect(saved.isSaved)
    }

    @Test("C54: signing out offline clears the store first and revokes the token later") func signOutOffline()
        async throws
    {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        let isOffline = Locked(true)
        let transport = StubTransport { request in
            if isOffline.withLock({ $0 }) { throw TransportError.offline }
            return try await app.transport.respond(request)
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), transport: transport, time: app.time, random: { $0.upperBound })
        await tokens.restore()
        var events = tokens.events.makeAsyncIterator()
        await tokens.signOut()
        #expect(tokens.state == .signedOut)
        #expect(await store.read().isEmpty)
        while let event = await events.next() {
            if case .revocationFailed = event { break }
        }
        isOffline.withLock { $0 = false }
        await app.time.waitForSleepers()
        app.time.advance(by: .seconds(1))
        while let event = await events.next() {
            if event == .revoked { break }
        }
        #expect(app.backend.revoked.contains { $0.contains("refresh-1") })
    }

    @Test(
        "C57: an endpoint that works signed out is sent without an Authorization header") func ifSignedIn() async throws
    {
        let app = App()
        let echo: Echo = try await app.client.send(Get("/public/feed", .ifSignedIn))
        #expect(echo.token == "none")
        #expect(app.transport.requests.allSatisfy { $0.headers[.authorization] == nil })
        guard case .signInRequired = await app.call().error else {
            Issue.record("an endpoint that requires a token was sent")
            return
        }
        #expect(app.transport.requests(to: "/me").isEmpty)
    }
}
