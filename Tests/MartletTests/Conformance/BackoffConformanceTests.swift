import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: backoff, budget and short lives", .timeLimit(.minutes(10))) struct BackoffConformanceTests {
    @Test("C68: a token that one endpoint rejects works elsewhere while the token endpoint is down")
    func rejectedByOne() async throws {
        let app = try await App.signedIn()
        app.backend.beforeCall { $0.path == "/broken" ? .status(401) : nil }
        app.backend.beforeRefresh { _ in .status(503, headers: [.retryAfter: "900"]) }
        for _ in 0..<10 {
            guard case .refreshFailed = await app.call("/broken").error else {
                Issue.record("the broken endpoint succeeded")
                return
            }
            #expect(await app.call("/me").isSuccess)
            app.time.advance(by: .seconds(10))
        }
        #expect(app.backend.refreshCalls == 1)
        #expect(app.backend.calls(to: "/me") == 10)
        #expect(app.backend.calls(to: "/broken") == 10, "each call may cost a 401, none is refused unsent")
    }

    @Test("C68: a caller that waits for a refresh gets the token that is still valid when the refresh fails")
    func waiterOfFailedRefresh() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeCall { $0.path == "/broken" ? .status(401) : nil }
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return .status(503, headers: [.retryAfter: "900"])
        }
        var joined = app.tokens.events.compactMap { if case .refreshJoined = $0 { true } else { nil } }
            .makeAsyncIterator()
        async let broken = app.call("/broken")
        _ = await joined.next()
        await gate.waitForArrivals()
        async let waiting = app.call("/me")
        _ = await joined.next()
        gate.open()
        #expect(await waiting.isSuccess)
        #expect(await !broken.isSuccess)
    }

    @Test("C70: access tokens that live 3 s cost one refresh for each life", arguments: [true, false])
    func shortLives(isLifetimeKnown: Bool) async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = isLifetimeKnown ? 3 : nil }
        let app = try await App.signedIn(backend)
        let issuedAt = Locked(Duration.zero)
        backend.afterRefresh { [time = app.time] _ in
            issuedAt.withLock { $0 = time.uptime }
            return nil
        }
        for step in 0..<120 {
            if app.time.uptime - issuedAt.withLock({ $0 }) >= .seconds(3) { backend.invalidateAccessTokens() }
            #expect(await app.call().isSuccess, "call \(step)")
            app.time.advance(by: .milliseconds(500))
        }
        #expect((19...24).contains(backend.refreshCalls), "\(backend.refreshCalls) refreshes in a minute")
    }

    @Test("C91: an endpoint that always rejects tokens of unknown lifetime costs no more than the budget")
    func unknownLifetimes() async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = nil }
        let app = try await App.signedIn(backend)
        let refreshes = Locked<[Duration]>([])
        backend.beforeRefresh { [time = app.time] _ in
            refreshes.withLock { $0.append(time.uptime) }
            return nil
        }
        backend.beforeCall { $0.path == "/broken" ? .status(401) : nil }
        for _ in 0..<1_000 {
            #expect(await app.call().isSuccess)
            #expect(await !app.call("/broken").isSuccess)
            app.time.advance(by: .milliseconds(60))
        }
        let starts = refreshes.withLock { $0 }
        for start in starts {
            let window = start..<(start + SessionPolicy().refreshWindow)
            #expect(starts.count { window.contains($0) } <= SessionPolicy().refreshBudget)
        }
    }

    @Test("C91: opaque tokens that live 3 to 60 s cost no call", arguments: [3, 7, 20, 60])
    func opaqueTokens(life: Int) async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = nil }
        let app = try await App.signedIn(backend)
        for step in 0..<240 {
            if step > 0, step % (life * 2) == 0 { backend.invalidateAccessTokens() }
            #expect(await app.burst(3).allSucceeded, "step \(step)")
            app.time.advance(by: .milliseconds(500))
        }
        #expect(backend.refreshCalls == 239 / (life * 2))
    }

    @Test(
        "C91: a Retry-After of zero or in the past leaves the ordinary backoff",
        arguments: ["0", "-3", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func emptyRetryAfter(text: String) async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in .status(503, headers: [.retryAfter: text]) }
        for _ in 0..<10 { #expect(await !app.call().isSuccess) }
        #expect(app.backend.refreshCalls == 1)
        app.time.advance(by: .seconds(1))
        #expect(await !app.call().isSuccess)
        #expect(app.backend.refreshCalls == 2)
    }

    @Test("C71: no request carries a token after its stated life of 2 s") func shortLife() async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = 2 }
        let app = try await App.signedIn(backend)
        let issuedAt = Locked(["access-1": Duration.zero])
        backend.beforeCall { [time = app.time] request in
            let bearer = try #require(request.bearer)
            let age = time.uptime - issuedAt.withLock { $0[bearer] ?? time.uptime }
            #expect(age < .seconds(2), "\(bearer) is \(age) old")
            return nil
        }
        backend.afterRefresh { [time = app.time] _ in
            let number = backend.state.withLock { $0.lastNumber }
            issuedAt.withLock { $0["access-\(number)"] = time.uptime }
            return nil
        }
        for _ in 0..<40 {
            #expect(await app.call().isSuccess)
            // The client counts a token's life from its arrival, and a refresh in the background is still under way.
            while app.tokens.inspect({ $0.machine.session?.isBusy == true }) { await Task.yield() }
            app.time.advance(by: .milliseconds(300))
        }
    }

    @Test("C72: refreshes that never reached the server leave the budget as it was") func budgetWithoutNetwork()
        async throws
    {
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in throw TransportError.offline }
        for _ in 0...SessionPolicy().refreshBudget {
            await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
            app.time.advance(by: .seconds(1))
        }
        app.backend.beforeRefresh(nil)
        try await app.tokens.refresh()
        #expect(app.tokens.currentTokens?.accessToken == "access-2")
    }

    @Test(
        "C72: after 16 s without a network the next call refreshes at once",
        arguments: [TransportError.offline, .cannotConnect("unknown host"), .cannotConnect("connection refused")])
    func offline(failure: TransportError) async throws {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.time.advance(by: .seconds(3600))
        app.backend.beforeRefresh { _ in throw failure }
        for _ in 0..<40 {
            #expect(await !app.call().isSuccess)
            app.time.advance(by: .milliseconds(400))
        }
        app.backend.beforeRefresh(nil)
        #expect(await app.call().isSuccess)
    }

    @Test("C06: a Retry-After of hours delays a refresh by no more than 15 minutes") func cappedRetryAfter()
        async throws
    {
        let app = try await App.signedIn()
        app.backend.invalidateAccessTokens()
        app.backend.beforeRefresh { _ in .status(503, headers: [.retryAfter: "86400"]) }
        #expect(await !app.call().isSuccess)
        app.backend.beforeRefresh(nil)
        app.time.advance(by: .seconds(899))
        #expect(await !app.call().isSuccess)
        app.time.advance(by: .seconds(1))
        #expect(await app.call().isSuccess)
    }

    @Test("C08: a code that ends a session does so only with a 400 or 401", arguments: [403, 404, 429, 500, 503])
    func terminalCode(status: Int) async throws {
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in .json(#"{"error":"invalid_grant"}"#, status: status) }
        await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        #expect(app.tokens.state.isSignedIn)
    }
}
