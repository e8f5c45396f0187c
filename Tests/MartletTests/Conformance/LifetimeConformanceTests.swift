import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: clocks and lifetimes", .timeLimit(.minutes(10))) struct LifetimeConformanceTests {
    @Test("C41: a wall clock that is an hour off costs at most one refresh", arguments: [-3600.0, 3600.0])
    func skewedClockAtRestart(offset: Double) async throws {
        let backend = SimulatedBackend()
        let store = InMemoryTokenStore()
        let time = ManualTimeSource()
        let first = App(backend, store: store, time: time)
        try await first.tokens.signIn(with: backend.issue())

        time.setWallClock(time.wallClock.addingTimeInterval(offset))
        let second = App(backend, store: store, time: time)
        for _ in 0..<100 { #expect(await second.call().isSuccess) }
        #expect(backend.refreshCalls <= 1)
    }

    @Test("C41: a wall clock that jumps during the session changes nothing") func clockJump() async throws {
        let app = try await App.signedIn()
        for jump in [3600.0, -7200.0, 86400.0] {
            app.time.setWallClock(app.time.wallClock.addingTimeInterval(jump))
            for _ in 0..<30 { #expect(await app.call().isSuccess) }
        }
        #expect(app.backend.refreshCalls == 0)
    }

    @Test(
        "C42: an invalid lifetime is ignored, and a valid one is understood",
        arguments: [
            (#""expiresIn":0"#, nil), (#""expiresIn":-5"#, nil), (#""expiresIn":1e12"#, nil),
            (#""expiresIn":"3600""#, 3600), (#""expiresIn":3600"#, 3600), (#""other":1"#, nil),
            (#""expires_in":60.0"#, 60), (#""expiresIn":null"#, nil), (#""expiresIn":"soon""#, nil),
        ] as [(String, Int?)])
    func expiresIn(field: String, expected: Int?) async throws {
        let app = try await App.signedIn()
        app.backend.state.withLock { _ = $0.validAccess.insert("opaque") }
        app.backend.beforeRefresh { _ in .json(#"{"accessToken":"opaque","refreshToken":"r",\#(field)}"#) }
        try await app.tokens.refresh()
        app.backend.beforeRefresh { _ in throw TransportError.offline }
        app.time.advance(by: .seconds(expected.map { $0 * 8 / 10 } ?? 1_000_000))
        #expect(await app.call().isSuccess)
        #expect(app.backend.refreshCalls == 1, "a token of unknown lifetime is used until it is rejected")
    }

    @Test("C42: the times of a JWT are understood in seconds and in milliseconds", arguments: [1.0, 1000.0])
    func jwtTimes(unit: Double) async throws {
        let time = ManualTimeSource()
        let now = time.wallClock.timeIntervalSince1970
        let token = UnsignedJWT.make(claims: #"{"iat":\#(now * unit),"exp":\#((now + 600) * unit)}"#)
        let backend = SimulatedBackend()
        let store = InMemoryTokenStore()
        let app = App(backend, store: store, time: time)
        _ = backend.issue()
        backend.state.withLock { _ = $0.validAccess.insert(token.reveal()) }
        try await app.tokens.signIn(with: Tokens(accessToken: token, refreshToken: "refresh-1"))
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.lifetime == .seconds(600))
        time.advance(by: .seconds(500))
        #expect(await app.call().isSuccess)
        #expect(backend.refreshCalls == 0)
        time.advance(by: .seconds(101))
        #expect(await app.call().isSuccess)
        #expect(backend.refreshCalls == 1)
    }

    @Test(
        "C43: a token with a lifetime shorter than the leeway is used, not renewed with every call",
        arguments: [2, 8, 40])
    func shortLived(lifetime: Int) async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = lifetime }
        let app = try await App.signedIn(backend)
        for _ in 0..<20 { #expect(await app.call().isSuccess) }
        #expect(backend.refreshCalls == 0)
        app.time.advance(by: .seconds(lifetime) * 0.49)
        for _ in 0..<20 { #expect(await app.call().isSuccess) }
        #expect(backend.refreshCalls == 0, "refreshed in the first half of its life")
    }

    @Test("a token about to expire is renewed once while the other calls keep using it") func proactive() async throws {
        let app = try await App.signedIn()
        let gate = Gate()
        app.backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        app.time.advance(by: .seconds(3545))
        #expect(await app.burst(50).allSucceeded)
        await gate.waitForArrivals()
        #expect(app.backend.refreshCalls == 1)
        gate.open()
    }

    @Test("C42: the remaining life of a JWT is believed only if the server's time is known", arguments: [true, false])
    func remainingLife(isServerTimeKnown: Bool) throws {
        let issued = Date(timeIntervalSince1970: 1_790_000_000)
        let token = UnsignedJWT.make(issuedAt: issued, expiresAt: issued.addingTimeInterval(3600))
        let now = issued.addingTimeInterval(3000)
        var tokens = Tokens(accessToken: token)
        if isServerTimeKnown { tokens.serverDate = now }
        let lifetime = try #require(TokenLifetime(of: tokens, wallClock: now))
        #expect(lifetime.total == .seconds(3600))
        #expect(lifetime.remaining == .seconds(isServerTimeKnown ? 600 : 3600))
    }

    @Test("an expired token is never sent") func expired() async throws {
        let app = try await App.signedIn()
        app.time.advance(by: .seconds(3601))
        #expect(await app.burst(50).allSucceeded)
        #expect(app.backend.refreshCalls == 1)
        #expect(app.backend.rejections == 0)
    }

    @Test("C43: a token that lives a day is refreshed one minute before its expiry, or up to a quarter earlier")
    func cappedLeeway() {
        let day = Duration.seconds(86400)
        for (jitter, leeway) in [(0.0, Duration.seconds(60)), (1.0, .seconds(75))] {
            let deadlines = TokenDeadlines(
                obtainedAt: .zero, remaining: day, lifetime: day, policy: SessionPolicy(), jitter: jitter)
            #expect(deadlines.refreshAt == day - leeway)
        }
    }
}
