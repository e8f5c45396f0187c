import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: a call belongs to one session", .timeLimit(.minutes(10))) struct OwnershipConformanceTests {
    /// The way in which the session of a stream ends.
    enum End: CaseIterable, Sendable {
        case otherUser, signOut, expiry

        func happen(to app: App) async throws {
            switch self {
            case .otherUser: try await app.tokens.signIn(with: app.backend.issue())
            case .signOut: await app.tokens.signOut()
            case .expiry:
                app.backend.revokeSession()
                await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
            }
        }

        func isReported(by error: NetworkError?) -> Bool {
            switch (self, error) {
            case (.otherUser, .sessionChanged), (.signOut, .signInRequired), (.expiry, .sessionExpired): true
            default: false
            }
        }
    }

    @Test("C66: an open event stream ends with its session", .timeLimit(.minutes(10)), arguments: End.allCases)
    func openStream(end: End) async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { _ in events("data: one\n\n", thenWaits: true) }
        var stream = app.client.serverSentEvents(from: Get("/news")).makeAsyncIterator()
        #expect(try await stream.next()?.data == "one")
        let waiting = Task { [stream] in
            var stream = stream
            return await error { _ = try await stream.next() }
        }
        try await end.happen(to: app)
        let failure = await waiting.value
        #expect(end.isReported(by: failure), "\(String(describing: failure))")
        #expect(app.backend.calls(to: "/news") == 1)
    }

    @Test("C66: no reconnection of an event stream carries another session's token", arguments: End.allCases)
    func reconnection(end: End) async throws {
        let app = try await App.signedIn()
        let bearers = Log()
        app.backend.beforeCall { request in
            bearers.add(request.bearer ?? "none")
            return events("retry: 1\ndata: one\n\n")
        }
        var stream = app.client.serverSentEvents(from: Get("/news", .ifSignedIn)).makeAsyncIterator()
        #expect(try await stream.next()?.data == "one")
        let waiting = Task { [stream] in
            var stream = stream
            return await error { _ = try await stream.next() }
        }
        await app.time.waitForSleepers()
        try await end.happen(to: app)
        app.time.advance(by: .seconds(5))
        let failure = await waiting.value
        #expect(end.isReported(by: failure), "\(String(describing: failure))")
        #expect(bearers.lines == ["access-1"])
    }

    @Test("C66: an event stream that was opened without a session goes on without one when a user signs in")
    func anonymousStream() async throws {
        let app = App()
        await app.tokens.restore()
        let bearers = Log()
        app.backend.beforeCall { request in
            bearers.add(request.bearer ?? "none")
            return events("retry: 1\ndata: one\n\n")
        }
        var stream = app.client.serverSentEvents(from: Get("/news", .ifSignedIn)).makeAsyncIterator()
        #expect(try await stream.next()?.data == "one")
        let second = Task { [stream] in
            var stream = stream
            return try await stream.next()?.data
        }
        try await app.tokens.signIn(with: app.backend.issue())
        let clock = Task {
            while !Task.isCancelled {
                app.time.advance(by: .seconds(5))
                await Task.yield()
            }
        }
        #expect(try await second.value == "one")
        clock.cancel()
        // The stream reconnects for as long as the clock advances.
        #expect(bearers.lines.count >= 2 && Set(bearers.lines) == ["none"])
    }

    @Test("C66: an event stream whose first look at the store failed stays with the session whose token it has sent")
    func streamOverUnreadableStore() async throws {
        let store = FailingTokenStore()
        let backend = try await App.signedIn(store: store).backend
        backend.invalidateAccessTokens()
        let refreshes = Log()
        backend.beforeRefresh { _ in
            refreshes.add("refresh")
            return refreshes.lines.count == 1 ? .status(503) : nil
        }
        let bearers = Log()
        backend.beforeCall { request in
            bearers.add(request.bearer ?? "none")
            return request.bearer == nil ? events("data: one\n\n") : nil
        }
        store.fail(.read)
        let app = App(backend, store: store)
        let stream = Task {
            var stream = app.client.serverSentEvents(from: Get("/me", .ifSignedIn)).makeAsyncIterator()
            return await error { _ = try await stream.next() }
        }
        while refreshes.lines.isEmpty {
            app.time.advanceToNextSleeper()
            await Task.yield()
        }
        await app.time.waitForSleepers()
        backend.revokeSession()
        while app.tokens.state.isSignedIn {
            app.time.advance(by: .seconds(1))
            _ = try? await app.tokens.refresh()
        }
        let clock = Task {
            while !Task.isCancelled {
                app.time.advance(by: .seconds(5))
                await Task.yield()
            }
        }
        let failure = await stream.value
        clock.cancel()
        guard case .sessionExpired = failure else {
            Issue.record("the stream went on")
            return
        }
        #expect(!bearers.lines.contains("none"))
    }

    /// Waits before each request until it is told to go on.
    private struct WaitingInterceptor: RequestInterceptor {
        let gate: Gate
        var waitsInAdapt = false

        func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            if !waitsInAdapt { await gate.pass() }
        }

        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            if waitsInAdapt { await gate.pass() }
        }
    }

    @Test(
        "C67: a call whose interceptor waits until another user has signed in is not sent", arguments: [false, true])
    func waitingInterceptor(inAdapt: Bool) async throws {
        let gate = Gate()
        let app = try await App.signedIn {
            $0.interceptors = [WaitingInterceptor(gate: gate, waitsInAdapt: inAdapt)]
        }
        async let call = app.call()
        await gate.waitForArrivals()
        try await app.tokens.signIn(with: app.backend.issue())
        gate.open()
        guard case .sessionChanged = await call.error else {
            Issue.record("the call went on")
            return
        }
        #expect(app.backend.calls(to: "/me") == 0)
    }

    @Test(
        "C67: a call made while no user was signed in goes out without the token of a later sign-in",
        arguments: [false, true])
    func signedOutCall(isAtLaunch: Bool) async throws {
        let gate = Gate()
        let app = App { $0.interceptors = [WaitingInterceptor(gate: gate)] }
        if !isAtLaunch { await app.tokens.restore() }
        let bearers = Log()
        app.backend.beforeCall { request in
            bearers.add(request.bearer ?? "none")
            return nil
        }
        let client = app.client
        async let call = client.send(Get("/public", .ifSignedIn), as: Echo.self)
        await gate.waitForArrivals()
        // The store is read now at the latest.
        await app.tokens.restore()
        try await app.tokens.signIn(with: app.backend.issue())
        gate.open()
        _ = try await call
        #expect(bearers.lines == ["none"])
    }

    @Test("C74: after expiry a call that reads goes out without a token, and its 401 says that the session has expired")
    func readAfterExpiry() async throws {
        let app = try await App.signedIn()
        try await End.expiry.happen(to: app)
        let answer = try await app.client.send(Get("/public", .ifSignedIn), as: Echo.self)
        #expect(answer.token == "none")
        let failure = await error { _ = try await app.client.send(Get("/me", .ifSignedIn), as: Echo.self) }
        guard case .sessionExpired(_, _, let response) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(response?.status == 401)
    }

    @Test("C74: after expiry a call that writes is not sent without a token") func writeAfterExpiry() async throws {
        let app = try await App.signedIn()
        try await End.expiry.happen(to: app)
        let post = Call<NoContent>(.post, "/public", authentication: .ifSignedIn)
        let failure = await error { try await app.client.send(post) }
        guard case .sessionExpired = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(app.backend.calls(to: "/public") == 0)
        await app.tokens.signOut()
        try await app.client.send(post)
        #expect(app.backend.calls(to: "/public") == 1, "signed out, the call goes out without a token")
    }
}

/// A response that sends events and then ends, or stays open.
private func events(_ text: String, thenWaits: Bool = false) -> StubTransport.Response {
    StubTransport.Response(
        200, headers: [.contentType: "text/event-stream"],
        stream: ByteStream {
            var rest: Data? = Data(text.utf8)
            return {
                defer { rest = nil }
                if rest == nil, thenWaits { await Gate().pass() }
                return rest
            }
        })
}
