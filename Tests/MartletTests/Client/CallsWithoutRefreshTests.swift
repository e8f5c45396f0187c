import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Calls that allow no refresh", .timeLimit(.minutes(10))) struct CallsWithoutRefreshTests {
    /// A call whose rejection the app handles itself.
    private static func check(
        _ path: RequestPath = "/me", _ authentication: AuthenticationRequirement = .required
    ) -> Call<Echo> {
        Call(.get, path, authentication: authentication, allowsRefresh: false)
    }

    private func rejection(of app: App, _ call: Call<Echo> = check()) async -> ServerResponse? {
        guard case .unauthorized(_, let response) = await error({ try await app.client.send(call) }) else { return nil }
        return response
    }

    /// An interceptor that lets each call with the given path arrive at a gate, and waits for another one.
    private func holding(_ path: String, _ arrived: Gate, _ leaves: Gate) -> ClosureInterceptor {
        ClosureInterceptor(onAdapt: { request, _ in
            guard request.path == path else { return }
            arrived.open()
            await leaves.pass()
        })
    }

    @Test("an endpoint allows a refresh unless it says otherwise") func standard() {
        #expect(Get("/me").allowsRefresh && Call<Echo>.get("/me").allowsRefresh)
        #expect(!Self.check().allowsRefresh)
    }

    @Test("C103: a call that allows no refresh carries an expired token, and its rejection comes back as it is")
    func expired() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(7200))
        app.backend.invalidateAccessTokens()
        let response = try #require(await rejection(of: app))
        #expect(String(decoding: response.body, as: UTF8.self).contains("who are you?"))
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1"])
        #expect(app.backend.refreshCalls == 0 && app.tokens.state.isSignedIn)

        // The next call refreshes as usual.
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1", "access-2"])
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("an expired token that the server still accepts is no error") func stillAccepted() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(7200))
        #expect(try await app.client.send(Self.check()).token == "seen")
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("near its expiry, the token is used and not refreshed ahead of time") func expiringSoon() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(3590))
        _ = try await app.client.send(Self.check())
        for _ in 0..<100 { await Task.yield() }
        #expect(app.backend.refreshCalls == 0)
        _ = try await app.client.send(Get("/me"), as: Echo.self)
        while app.backend.refreshCalls == 0 { await Task.yield() }
    }

    @Test("C103: the session does not learn of the rejection of a call that allows no refresh") func notReported()
        async throws
    {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        #expect(await rejection(of: app) != nil)
        // Another call goes out with the same token, and it is this one that refreshes it.
        #expect(await app.call().isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1", "access-1", "access-2"])
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("a session without a refresh token does not end with the rejection") func noRefreshToken() async throws {
        let app = App()
        try await app.tokens.signIn(with: Tokens(accessToken: "only"))
        #expect(await rejection(of: app) != nil)
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("C103: a refresh under way is not waited for by a call that allows none")
    func duringRefresh() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let (arrived, answers) = (Gate(), Gate())
        app.backend.beforeRefresh { _ in
            arrived.open()
            await answers.pass()
            return nil
        }
        let other = Task { await app.call() }
        await arrived.pass()
        #expect(await rejection(of: app) != nil)
        answers.open()
        #expect(await other.value.isSuccess)
        #expect(try await app.client.send(Self.check()).token == "seen")
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1", "access-1", "access-2", "access-2"])
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("a token that is rejected while the call waits for a slot goes out all the same") func whileQueued()
        async throws
    {
        let app = try await App.signedIn { $0.maximumConcurrentRequests = 1 }
        app.backend.invalidateAccessTokens()
        let (slow, answers) = (Gate(), Gate())
        app.backend.beforeCall { request in
            if request.path == "/slow" { await slow.pass() }
            return nil
        }
        app.backend.beforeRefresh { _ in
            await answers.pass()
            return nil
        }
        let first = Task { await app.call("/slow") }
        await slow.waitForArrivals()
        let second = Task { await rejection(of: app) }
        for _ in 0..<1000 { await Task.yield() }
        slow.open()
        #expect(await second.value != nil)
        answers.open()
        #expect(await first.value.isSuccess)
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-1"])
    }

    @Test("a token that is replaced while an interceptor works is replaced on the request too") func replaced()
        async throws
    {
        let (arrived, leaves) = (Gate(), Gate())
        let app = try await App.signedIn { $0.interceptors = [holding("/me", arrived, leaves)] }
        let call = Task { try await app.client.send(Self.check()) }
        await arrived.pass()
        try await app.tokens.refresh()
        leaves.open()
        #expect(try await call.value.token == "seen")
        #expect(app.transport.requests(to: "/me").map(\.bearer) == ["access-2"])
    }

    @Test("an expired token is attached once, and interceptors see the request once") func oneAdaptation() async throws
    {
        let log = Log()
        let app = try await App.signedIn {
            $0.interceptors = [
                ClosureInterceptor(onAdapt: { request, _ in log.add(request.headerFields[.authorization] ?? "none") })
            ]
        }
        app.time.advance(by: .seconds(7200))
        _ = try await app.client.send(Self.check())
        #expect(log.lines == ["Bearer access-1"])
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("a redirect within the origin keeps the expired token") func redirect() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(7200))
        app.backend.beforeCall { request in
            request.path == "/old" ? .status(302, headers: [.location: "/me"]) : nil
        }
        #expect(try await app.client.send(Self.check("/old")).path == "/me")
        #expect(app.transport.requests.map(\.bearer) == ["access-1", "access-1"])
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("other rejections are responses like any other", arguments: [419, 200]) func otherRules(status: Int)
        async throws
    {
        let app = try await App.signedIn(rejection: .status(419).or(.graphQL))
        let body = #"{"errors":[{"extensions":{"code":"UNAUTHENTICATED"}}],"path":"/me","token":"seen"}"#
        app.backend.beforeCall { _ in .json(body, status: status) }
        let error = await error { try await app.client.send(Self.check()) }
        #expect(error?.response?.status == (status == 200 ? nil : status))
        #expect(app.backend.refreshCalls == 0 && app.backend.calls(to: "/me") == 1)
    }

    @Test("without a user, the requirement decides") func signedOut() async throws {
        let app = App()
        guard case .signInRequired = await error({ try await app.client.send(Self.check()) }) else {
            Issue.record("the call was sent without a session")
            return
        }
        #expect(try await app.client.send(Self.check("/public/feed", .ifSignedIn)).token == "none")
        app.backend.beforeCall { _ in .status(401) }
        #expect(await rejection(of: app, Self.check("/public/feed", .ifSignedIn)) != nil)
        #expect(app.backend.refreshCalls == 0)
    }

    @Test("at launch, the store is read, and the token that it contains is used as it is") func launch() async throws {
        let time = ManualTimeSource()
        let backend = SimulatedBackend()
        let store = AnyTokenStore.inMemory(holding: .expired(backend.issue(), at: time.wallClock))
        let app = App(backend, store: store, time: time)
        #expect(try await app.client.send(Self.check()).token == "seen")
        #expect(app.transport.requests.map(\.bearer) == ["access-1"])
    }

    @Test("C103: a call that allows no refresh never goes out as the next user", arguments: [false, true])
    func nextUser(isExpired: Bool)
        async throws
    {
        let (arrived, leaves) = (Gate(), Gate())
        let app = try await App.signedIn { $0.interceptors = [holding("/me", arrived, leaves)] }
        if isExpired { app.time.advance(by: .seconds(7200)) }
        let call = Task { await error { try await app.client.send(Self.check()) } }
        await arrived.pass()
        try await app.tokens.signIn(with: app.backend.issue())
        leaves.open()
        guard case .sessionChanged = await call.value else {
            Issue.record("the call went on")
            return
        }
        #expect(app.backend.calls(to: "/me") == 0)
    }

    @Test("tokens that are withheld until they are saved are withheld from it too") func withheld() async throws {
        var policy = SessionPolicy()
        policy.requiresSavedTokens = true
        let store = FailingTokenStore()
        let app = try await App.signedIn(store: store, policy: policy)
        app.backend.invalidateAccessTokens()
        store.fail(.write, times: nil)
        _ = await app.call()
        guard case .refreshFailed(_, let failure, _) = await error({ try await app.client.send(Self.check()) }) else {
            Issue.record("the call went out")
            return
        }
        #expect(failure.kind == .notSaved && app.backend.refreshCalls == 1)
    }

    @Test("a call that an app makes while it refreshes carries the old token, and does not wait for itself")
    func insideRefresh() async throws {
        let backend = SimulatedBackend()
        let client = Locked<NetworkClient?>(nil)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: HTTPTokenRefresher.custom { _, _ in
                let client = try #require(client.withLock { $0 })
                _ = try await client.send(Self.check("/reissue"))
                return backend.issue()
            }, transport: backend.transport, time: ManualTimeSource())
        client.withLock { $0 = NetworkClient(tokens: tokens) }
        try await tokens.signIn(with: backend.issue())
        #expect(try await tokens.refresh().accessToken == "access-2")
        #expect(backend.calls(to: "/reissue") == 1)
    }

    @Test("an event stream whose endpoint allows no refresh ends with the rejection") func events() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let failure = await error {
            for try await _ in app.client.serverSentEvents(from: Self.check("/news")) {}
        }
        guard case .unauthorized = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(app.backend.refreshCalls == 0 && app.backend.calls(to: "/news") == 1)
    }

    @Test("C103: a call that allows a refresh does not join one that allows none") func joining() async throws {
        let gate = Gate()
        let app = try await App.signedIn { $0.coalescesIdenticalCalls = true }
        app.backend.invalidateAccessTokens()
        app.backend.beforeCall { _ in
            await gate.pass()
            return nil
        }
        let one = Task { await rejection(of: app) }
        await gate.waitForArrivals()
        let other = Task { try await app.client.send(Call<Echo>.get("/me", authentication: .required)) }
        await gate.waitForArrivals(2)
        gate.open()
        #expect(await one.value != nil)
        #expect(try await other.value.token == "seen")
    }
}
