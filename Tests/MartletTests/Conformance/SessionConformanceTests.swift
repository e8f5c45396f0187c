import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: the session and the app") struct SessionConformanceTests {
    @Test("C13: signing out during a refresh throws its result away and revokes it") func signOutDuringRefresh()
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
        #expect(await store.read() == .empty)
        #expect(app.tokens.state == .signedOut)
    }

    @Test("C14, C15: what a former session's refresh comes to leaves the new one alone", arguments: [true, false])
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
            with: TokenBundle(accessToken: "other", refreshToken: "other-refresh"))
        gate.open()
        guard case .sessionChanged = await call.error else {
            Issue.record("a call of the former session went on")
            return
        }
        while let event = await events.next() {
            if case .refreshDiscarded(_, .sessionChanged) = event { break }
        }
        #expect(app.tokens.state == .signedIn(other))
        #expect(try await app.tokens.validToken() == "other")
    }

    @Test("C16: a call in flight is not repeated under the next user's token") func switchInFlight() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeCall { request in
            guard request.method == .post else { return nil }
            await gate.pass()
            return .status(401)
        }
        struct Post: APIEndpoint {
            let path = "/orders"
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
            Issue.record("a call of the former session went on")
            return
        }
        #expect(app.transport.requests(to: "/orders").count == 1)
    }

    @Test("C17: calls that wait for the former session's refresh are not sent under the next user's token")
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
            // Whoever asked only after the switch belongs to the new session.
            if result.isSuccess { continue }
            guard case .sessionChanged = result.error else {
                Issue.record("\(String(describing: result.error))")
                continue
            }
        }
        #expect(app.transport.requests(to: "/me").allSatisfy { $0.bearer == "access-2" })
    }

    @Test("C19, C63: a store that fails signs nobody out, and is asked again") func storeFails() async throws {
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
            if case .storeFailed(.write, _) = event { hasFailed = true }
        }
        store.isLocked = false
        await app.time.waitForSleepers()
        app.time.advance(by: .seconds(1))
        while let event = await events.next() {
            if case .storeRecovered = event { break }
        }
        #expect(await store.record?.bundle.refreshToken == "refresh-2")
        guard case .signedIn(let saved) = app.tokens.state else { return }
        #expect(saved.isSaved)
    }

    @Test("C46: a 403 is no reason to refresh, unless one says so") func forbidden() async throws {
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

    @Test("C47: GraphQL's UNAUTHENTICATED in a 200 leads to a refresh and a replay") func graphQL() async throws {
        let app = try await App.signedIn(rejection: .graphQL)
        app.backend.beforeCall { request in
            request.bearer == "access-1"
                ? .json(#"{"errors":[{"message":"no","extensions":{"code":"UNAUTHENTICATED"}}]}"#) : nil
        }
        #expect(await app.call().isSuccess)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C54: signing out offline clears what is here first, and the server is told later") func signOutOffline()
        async throws
    {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        let isOffline = Locked(true)
        let transport = StubTransport { request in
            if isOffline.withLock({ $0 }) { throw TransportError.offline }
            return try await app.transport.answer(request)
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), transport: transport, time: app.time, random: .upperBound)
        await tokens.restore()
        var events = tokens.events.makeAsyncIterator()
        await tokens.signOut()
        #expect(tokens.state == .signedOut)
        #expect(await store.read() == .empty)
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

    @Test("C57: an endpoint that works signed out goes out without a header") func ifSignedIn() async throws {
        let app = App()
        let echo: Echo = try await app.client.send(Get("/public/feed", .ifSignedIn))
        #expect(echo.token == "none")
        #expect(app.transport.requests.allSatisfy { $0.headers[.authorization] == nil })
        guard case .signInRequired = await app.call().error else {
            Issue.record("an endpoint that requires a token must not go out")
            return
        }
        #expect(app.transport.requests(to: "/me").isEmpty)
    }

    @Test("C58: where 419 means expired, a 401 is left alone") func status419() async throws {
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

    @Test("C59: a refresh that gives an access token only rewrites the record") func accessTokenOnly() async throws {
        let store = InMemoryTokenStore()
        let backend = SimulatedBackend()
        let transport = backend.transport
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .accessTokenOnly(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: backend.issue())
        backend.beforeRefresh { _ in .json(#"{"token":"only"}"#) }
        try await tokens.refresh()
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.bundle.accessToken == "only")
        #expect(record.bundle.refreshToken == "refresh-1")
        #expect(record.rotation == 1)
    }

    @Test("C60: the refresh token in a header is on the refresh request and on no other") func headerDialect()
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

    @Test("C61: a refresh endpoint that answers 401 is final at once") func refresh401() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in .status(401) }
        guard case .sessionExpired(_, .refreshTokenRejected, let answer) = await app.call().error else {
            Issue.record("the session should have expired")
            return
        }
        #expect(answer?.status == 401)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C62: at the start, a stored and expired session is renewed") func restoreExpired() async throws {
        let backend = SimulatedBackend()
        let time = ManualTimeSource()
        let record = StoredSession.expired(backend.issue(), at: time.wallClock)
        let app = App(backend, store: InMemoryTokenStore(record), time: time)
        #expect(await app.tokens.restore().isSignedIn)
        #expect(backend.refreshCalls == 1)
    }

    @Test("C62: at the start, a revoked session has expired, and without one nobody is signed in") func restoreRevoked()
        async throws
    {
        let backend = SimulatedBackend()
        let time = ManualTimeSource()
        let record = StoredSession.expired(backend.issue(), at: time.wallClock)
        backend.revokeSession()
        let app = App(backend, store: InMemoryTokenStore(record), time: time)
        #expect(await app.tokens.restore() == .expired(.refreshTokenRejected(code: "invalid_grant")))
        #expect(await App().tokens.restore() == .signedOut)
    }

    @Test("C62: at the start and offline, the app is signed in and stale") func restoreOffline() async throws {
        let backend = SimulatedBackend()
        let time = ManualTimeSource()
        let record = StoredSession.expired(backend.issue(), at: time.wallClock)
        backend.beforeRefresh { _ in throw TransportError.offline }
        let app = App(backend, store: InMemoryTokenStore(record), time: time)
        guard case .signedIn(let session) = await app.tokens.restore() else {
            Issue.record("\(app.tokens.state)")
            return
        }
        #expect(session.isStale)
    }

    @Test("a store that cannot be read is not signed out, and is read again") func unavailable() async throws {
        let store = FailingTokenStore()
        store.isLocked = true
        let app = App(store: store)
        guard case .unavailable = await app.tokens.restore() else {
            Issue.record("\(app.tokens.state)")
            return
        }
        guard case .storageUnavailable = await app.call().error else {
            Issue.record("the store's trouble should be the error")
            return
        }
        store.isLocked = false
        #expect(await app.tokens.restore() == .signedOut)
    }
}
