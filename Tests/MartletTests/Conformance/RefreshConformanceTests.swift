import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: refreshing", .timeLimit(.minutes(10))) struct RefreshConformanceTests {
    @Test("C01: a burst of calls on a revoked token causes one refresh and one replay each", arguments: [10, 1000])
    func burst(count: Int) async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let results = await app.burst(count)
        #expect(results.allSucceeded)
        #expect(app.backend.refreshCalls == 1)
        #expect(app.backend.reuseDetected == 0)
        #expect(app.backend.calls(to: "/me") == count + app.backend.rejections)
    }

    @Test("C02: a late 401 for the old token is replayed without another refresh") func straggler() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeCall { request in
            guard request.path == "/slow", request.bearer == "access-1" else { return nil }
            await gate.pass()
            return .status(401)
        }
        async let slow = app.call("/slow")
        await gate.waitForArrivals()
        app.backend.invalidateAccessTokens()
        #expect(await app.call().isSuccess)
        gate.open()
        #expect(await slow.isSuccess)
        #expect(app.backend.refreshCalls == 1)
        #expect(app.backend.calls(to: "/slow") == 2)
    }

    @Test("C03: a second 401 is surfaced after one replay") func refusedTwice() async throws {
        let app = try await App.signedIn()
        let calls = app.backend
        app.backend.beforeCall { request in
            .json(#"{"message":"answer \#(calls.calls(to: "/me"))"}"#, status: 401)
        }
        let error = await app.call().error
        guard case .unauthorized(_, let response) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(String(decoding: response.body, as: UTF8.self).contains("answer 2"))
        #expect(app.backend.calls(to: "/me") == 2)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test(
        "C04: endpoints that always return 401 use up the refresh budget and then fail fast") func budget() async throws
    {
        let app = try await App.signedIn()
        app.backend.beforeCall { $0.path.hasPrefix("/bad") ? .status(401) : nil }
        for number in 0..<100 {
            #expect(await !app.call("/bad/\(number)").isSuccess)
        }
        #expect(app.backend.refreshCalls == 5)
        #expect(await app.call("/good").isSuccess, "a token that works for other endpoints stays in use")
        app.time.advance(by: .seconds(31))
        #expect(await !app.call("/bad/again").isSuccess)
        #expect(app.backend.refreshCalls == 6)
    }

    @Test(
        "C05: a refresh that fails offline keeps the session, and the next attempt succeeds") func offline()
        async throws
    {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in throw TransportError.offline }
        guard case .refreshFailed(_, let failure, _) = await app.call().error else {
            Issue.record("the refresh did not fail with a transient error")
            return
        }
        #expect(failure.kind == .offline)
        #expect(app.tokens.state.isSignedIn)
        app.backend.beforeRefresh(nil)
        app.time.advance(by: .seconds(1))
        #expect(await app.call().isSuccess)
    }

    @Test(
        "C06: no refresh is sent before Retry-After has passed, and until then calls fail fast", arguments: [429, 503])
    func retryAfter(status: Int) async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in .status(status, headers: [.retryAfter: "20"]) }
        for _ in 0..<50 {
            let result = await app.call()
            #expect(!result.isSuccess)
            app.time.advance(by: .milliseconds(390))
        }
        #expect(app.backend.refreshCalls == 1)
        #expect(app.tokens.state.isSignedIn)
        app.backend.beforeRefresh(nil)
        app.time.advance(by: .seconds(1))
        #expect(await app.call().isSuccess)
    }

    @Test("C06: a token that is still valid is used during the backoff") func stillValid() async throws {
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in .status(503, headers: [.retryAfter: "20"]) }
        var events = app.tokens.events.makeAsyncIterator()
        app.time.advance(by: .seconds(3560))
        #expect(await app.call().isSuccess)
        while let event = await events.next() {
            if case .refreshFailed = event { break }
        }
        for _ in 0..<10 { #expect(await app.call().isSuccess) }
        #expect(app.backend.refreshCalls == 1)
    }

    @Test(
        "C07: a captive portal's page or redirect is a transient error, and nothing is stored", arguments: [200, 302])
    func captivePortal(status: Int) async throws {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in
            StubTransport.Response(
                status, headers: [.contentType: "text/html", .location: "https://portal.example.net/"],
                body: Data("<html>Welcome to our Wi-Fi</html>".utf8))
        }
        guard case .refreshFailed(_, let failure, _) = await app.call().error else {
            Issue.record("the refresh did not fail with a transient error")
            return
        }
        #expect(failure.kind == .unreadableResponse)
        #expect(app.transport.requests.allSatisfy { $0.request.authority == "api.example.com" })
        guard case .found(let record) = await store.read() else {
            Issue.record("the record was deleted")
            return
        }
        #expect(record.tokens.refreshToken == "refresh-1")
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("C08: a terminal rejection causes one refresh call and one state change") func invalidGrant() async throws {
        let app = try await App.signedIn()
        var states = app.tokens.states.makeAsyncIterator()
        _ = await states.next()
        app.backend.invalidateAccessTokens()
        app.backend.revokeSession()
        let results = await app.burst(10)
        for result in results {
            guard case .sessionExpired(_, .refreshTokenRejected(let code), _) = result.error else {
                Issue.record("\(String(describing: result.error))")
                continue
            }
            #expect(code == "invalid_grant")
        }
        #expect(await states.next() == .expired(.refreshTokenRejected(code: "invalid_grant")))
        for _ in 0..<10 { #expect(await !app.call().isSuccess) }
        #expect(app.backend.refreshCalls == 1)
        try await app.tokens.signIn(with: app.backend.issue())
        guard case .signedIn = await states.next() else {
            Issue.record("there was another state change before the next sign-in")
            return
        }
    }

    @Test("C09: a failed refresh fails all of its waiters") func sharedFailure() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            throw TransportError.connectionLost("reset")
        }
        async let results = app.burst(20)
        await gate.waitForArrivals()
        gate.open()
        #expect(await results.allSatisfy { !$0.isSuccess })
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C10: if the caller that started the refresh is cancelled, the others still succeed") func leaderCancelled()
        async throws
    {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let leader = Task { await app.call() }
        await gate.waitForArrivals()
        async let others = app.burst(10)
        leader.cancel()
        #expect(await leader.value.error?.isCancelled == true)
        gate.open()
        #expect(await others.allSucceeded)
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("C11: a cancelled waiter returns before the refresh ends") func waiterCancelled() async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let waiter = Task { await app.call() }
        await gate.waitForArrivals()
        waiter.cancel()
        #expect(await waiter.value.error?.isCancelled == true)
        #expect(app.tokens.state.isSignedIn)
        gate.open()
    }

    @Test("C12: if all waiters are cancelled, the refresh completes and is stored") func allWaitersCancelled()
        async throws
    {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        var events = app.tokens.events.makeAsyncIterator()
        let waiters = (0..<5).map { _ in Task { await app.call() } }
        await gate.waitForArrivals()
        for waiter in waiters { waiter.cancel() }
        for waiter in waiters { #expect(await waiter.value.error?.isCancelled == true) }
        gate.open()
        while let event = await events.next() {
            if case .refreshSucceeded = event { break }
        }
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.tokens.refreshToken == "refresh-2")
        #expect(record.rotation == 1)
    }

    @Test(
        "C20: a token with a shorter lifetime than its predecessor is stored all the same") func shorterLifetime()
        async throws
    {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.state.withLock { $0.lifetime = 20 }
        app.backend.invalidateAccessTokens()
        #expect(await app.call().isSuccess)
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.lifetime == .seconds(20))
        #expect(record.tokens.accessToken == "access-2")
    }

    @Test("C50: a refresh response without a refresh token keeps the old one") func omittedRefreshToken() async throws {
        let store = InMemoryTokenStore()
        let app = try await App.signedIn(store: store)
        app.backend.invalidateAccessTokens()
        app.backend.state.withLock { _ = $0.validAccess.insert("only-access") }
        app.backend.beforeRefresh { _ in .json(#"{"accessToken":"only-access"}"#) }
        #expect(await app.call().isSuccess)
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.tokens.refreshToken == "refresh-1")
        #expect(record.tokens.accessToken == "only-access")
    }
}
