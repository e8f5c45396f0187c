import Foundation
import MartletGuests
import MartletTesting
import Testing

@testable import Martlet

@Suite("The revocation of tokens", .timeLimit(.minutes(10))) struct RevocationTests {
    private func requests(of app: App) -> [StubTransport.Request] {
        app.transport.requests.filter { $0.path == "/auth/logout" }
    }

    /// Lets tasks run that a defect would have started.
    private func letTasksRun() async {
        for _ in 0..<300 { await Task.yield() }
    }

    @Test("spares tokens that the server has issued again for the next sign-in") func sameTokens() async throws {
        let app = App()
        let issued = app.backend.issue()
        try await app.tokens.signIn(with: issued)
        try await app.tokens.signIn(with: issued)
        await app.tokens.flushStore()
        await letTasksRun()
        #expect(requests(of: app).isEmpty)
        #expect(await app.call().isSuccess)
        #expect(await app.tokens.signOut(waitingForServer: .seconds(5)))
        #expect(requests(of: app).count == 1)
    }

    @Test("is confirmed only once the tokens of a refresh under way are revoked, too") func duringRefresh() async throws
    {
        let app = try await App.signedIn()
        let (response, hasReturned) = (Gate(), Locked(false))
        app.backend.afterRefresh { _ in
            await response.pass()
            return nil
        }
        let refresh = Task { try? await app.tokens.refresh() }
        await response.waitForArrivals()
        let events = app.tokens.events
        let signOut = Task {
            let isConfirmed = await app.tokens.signOut(waitingForServer: .seconds(5))
            hasReturned.withLock { $0 = true }
            return isConfirmed
        }
        _ = await events.first { $0 == .revoked }
        await letTasksRun()
        #expect(!hasReturned.withLock { $0 })
        response.open()
        #expect(await signOut.value)
        _ = await refresh.value
        #expect(app.backend.revoked.contains { $0.contains("refresh-2") })
    }

    @Test("is confirmed if no user is signed in, and not if the store cannot say so") func signedOut() async throws {
        let store = FailingTokenStore()
        let app = App(store: store)
        #expect(await app.tokens.signOut(waitingForServer: .seconds(5)))
        store.fail(.read, times: 1)
        let unread = App(app.backend, store: store)
        #expect(await !unread.tokens.signOut(waitingForServer: .seconds(5)))
    }

    @Test("is not confirmed if the response to a refresh does not arrive in time") func lateRefresh() async throws {
        let app = try await App.signedIn()
        let response = Gate()
        app.backend.afterRefresh { _ in
            await response.pass()
            return nil
        }
        let refresh = Task { try? await app.tokens.refresh() }
        await response.waitForArrivals()
        let isConfirmed = try await app.time.advance(by: .milliseconds(10)) {
            await app.tokens.signOut(waitingForServer: .seconds(5))
        }
        #expect(!isConfirmed)
        response.open()
        _ = await refresh.value
    }

    @Test("is not awaited by a sign-out without a revoker, nor is a refresh under way") func noRevoker() async throws {
        let (time, response) = (ManualTimeSource(), Gate())
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory(.fresh(1)),
            refresher: .custom { _, _ in
                await response.pass()
                return .fresh(2)
            }, transport: StubTransport(), time: time)
        let refresh = Task { try? await tokens.refresh() }
        await response.waitForArrivals()
        // Time stands still.
        #expect(await !tokens.signOut(waitingForServer: .seconds(10)))
        response.open()
        _ = await refresh.value
    }

    @Test("of an earlier sign-out is awaited, too, and that of the store is not counted") func earlierSignOut()
        async throws
    {
        let (store, logout) = (FailingTokenStore(), Gate())
        let app = App(store: store)
        app.backend.beforeLogout { _ in
            await logout.pass()
            return nil
        }
        try await app.tokens.signIn(with: app.backend.issue())
        await app.tokens.signOut()
        await logout.waitForArrivals()
        let again = Task { await app.tokens.signOut(waitingForServer: .seconds(5)) }
        await letTasksRun()
        logout.open()
        #expect(await again.value)
        // A slow store does not shorten the time of the server.
        try await app.tokens.signIn(with: app.backend.issue())
        store.delay(.write, by: .seconds(4), on: app.time)
        store.delay(.delete, by: .seconds(4), on: app.time)
        app.backend.beforeLogout { _ in
            try await app.time.sleep(until: app.time.uptime + .seconds(2))
            return nil
        }
        let isConfirmed = try await app.time.advance(by: .milliseconds(10)) {
            await app.tokens.signOut(waitingForServer: .seconds(3))
        }
        #expect(isConfirmed)
    }

    @Test("is confirmed when the server has answered a refresh and the revocations, even if the store hangs then")
    func hangingStore() async throws {
        let (store, response) = (FailingTokenStore(), Gate())
        let app = App(store: store)
        app.backend.beforeRefresh { _ in
            await response.pass()
            return nil
        }
        try await app.tokens.signIn(with: app.backend.issue())
        let refresh = Task { try? await app.tokens.refresh() }
        await response.waitForArrivals()
        let signOut = Task { await app.tokens.signOut(waitingForServer: .seconds(5)) }
        _ = await app.tokens.states.first { $0 == .signedOut }
        await app.tokens.flushStore()
        // Time stands still, so this reading never ends.
        store.delay(.read, by: .seconds(60), on: app.time)
        let reading = Task { await app.tokens.perform(.read) }
        await app.time.waitForSleepers()
        response.open()
        #expect(await signOut.value)
        _ = await refresh.value
        _ = try await app.time.advance(by: .seconds(60)) { await reading.value }
    }

    @Test("reports a server that does not answer, even after an earlier revocation has failed") func silentServer()
        async throws
    {
        let app = App()
        app.backend.beforeLogout { _ in .status(400) }
        let events = app.tokens.events
        try await app.tokens.signIn(with: app.backend.issue())
        await app.tokens.signOut()
        _ = await events.first { if case .revocationFailed = $0 { true } else { false } }
        let silence = Gate()
        app.backend.beforeLogout { _ in
            await silence.pass()
            return nil
        }
        try await app.tokens.signIn(with: app.backend.issue())
        let isConfirmed = try await app.time.advance(by: .milliseconds(10)) {
            await app.tokens.signOut(waitingForServer: .seconds(5))
        }
        #expect(!isConfirmed)
        let report = await events.first {
            if case .revocationFailed(let why) = $0 { why.contains("5 s") } else { false }
        }
        #expect(report != nil)
        silence.open()
    }

    // Django REST framework, for example, has one token for each user.
    @Test("is not repeated once the user has signed in again with the same token")
    func repeatedRevocation() async throws {
        let app = App()
        let isDown = Locked(true)
        app.backend.beforeLogout { _ in isDown.withLock { $0 } ? .status(503) : nil }
        let events = app.tokens.events
        try await app.tokens.signIn(with: Tokens(accessToken: "one-per-user"))
        await app.tokens.signOut()
        _ = await events.first { if case .revocationFailed = $0 { true } else { false } }
        try await app.tokens.signIn(with: Tokens(accessToken: "one-per-user"))
        isDown.withLock { $0 = false }
        await app.time.waitForSleepers()
        app.time.advance(by: .seconds(3600))
        await letTasksRun()
        #expect(await app.tokens.signOut(waitingForServer: .seconds(5)))
        #expect(requests(of: app).count == 2)
    }

    @Test("concerns the newest tokens of the session, which another process has stored", arguments: [false, true])
    func newestTokens(isSignIn: Bool) async throws {
        let store = SharedStubStore()
        store.gate.open()
        let app = App(store: store)
        let events = app.tokens.events
        try await app.tokens.signIn(with: app.backend.issue())
        // Its report has not arrived.
        await store.renew(app.backend.issue())
        if isSignIn {
            try await app.tokens.signIn(with: Tokens(accessToken: "bob", refreshToken: "bob-refresh"))
        } else {
            await app.tokens.signOut()
        }
        _ = await events.first { $0 == .revoked }
        #expect(app.backend.revoked.count == 1)
        #expect(app.backend.revoked.first?.contains("refresh-2") == true)
    }

    @Test(
        "is repeated without an access token that the server rejects, also with the status of the manager's rule",
        arguments: [401, 419])
    func rejectedAccessToken(status: Int) async throws {
        let app = App(rejection: .status(419))
        app.backend.beforeLogout { $0.bearer == nil ? nil : .status(status) }
        let events = app.tokens.events
        try await app.tokens.signIn(with: app.backend.issue())
        await app.tokens.signOut()
        _ = await events.first { if case .revocationFailed = $0 { true } else { false } }
        while app.backend.revoked.isEmpty {
            app.time.advance(by: .milliseconds(10))
            await Task.yield()
        }
        #expect(requests(of: app).map { $0.bearer != nil } == [true, false])
        #expect(app.backend.revoked.first?.contains("refresh-1") == true)
    }

    private struct User: Decodable, Sendable { var name: String }

    @Test("concerns the tokens of a sign-in whose response cannot be decoded") func undecodable() async throws {
        let app = App()
        app.backend.beforeCall { _ in .json(#"{"accessToken":"user","refreshToken":"user-refresh"}"#) }
        let events = app.tokens.events
        let failure = await error { try await app.client.signIn(Get("/public/login", .none), as: User.self) }
        guard case .decoding? = failure else {
            Issue.record("the sign-in did not fail: \(String(describing: failure))")
            return
        }
        _ = await events.first { $0 == .revoked }
        #expect(app.backend.revoked.first?.contains("user-refresh") == true)
        #expect(!app.tokens.state.isSignedIn)
    }

    private struct Held: RequestInterceptor {
        let gate: Gate
        let validates: Bool

        func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
            if validates { try await gate.passUnlessCancelled() }
        }

        func process(_ response: ServerResponse, for context: inout RequestContext) async throws -> ServerResponse {
            if !validates { try await gate.passUnlessCancelled() }
            return response
        }
    }

    @Test(
        "concerns the tokens of a sign-in that is cancelled while interceptors have its response",
        arguments: [false, true])
    func cancelled(inValidate: Bool) async throws {
        let gate = Gate()
        let app = App { $0.interceptors = [Held(gate: gate, validates: inValidate)] }
        app.backend.beforeCall { _ in .json(#"{"accessToken":"user","refreshToken":"user-refresh"}"#) }
        let events = app.tokens.events
        let signIn = Task {
            await error { try await app.client.signIn(Get("/public/login", .none), as: NoContent.self) }
        }
        await gate.waitForArrivals()
        signIn.cancel()
        #expect(await signIn.value?.isCancelled == true)
        _ = await events.first { $0 == .revoked }
        #expect(app.backend.revoked.first?.contains("user-refresh") == true)
        #expect(!app.tokens.state.isSignedIn)
    }
}
