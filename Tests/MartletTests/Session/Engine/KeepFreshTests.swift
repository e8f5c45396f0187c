import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Tokens that are kept fresh", .timeLimit(.minutes(10))) struct KeepFreshTests {
    /// Advances the time until a condition holds. Each refresh that is due ends first.
    private func advance(_ app: App, until isMet: () async -> Bool) async {
        while await !isMet() {
            await app.time.waitForSleepers(1)
            app.time.advance(by: .seconds(60))
            while app.tokens.nextRefresh().map({ $0 <= app.time.uptime }) ?? true { await Task.yield() }
        }
    }

    @Test("a token is refreshed before it expires, again and again, without a call") func ahead() async throws {
        let app = try await App.signedIn()
        let keeping = Task { await app.tokens.keepFresh() }
        var expiries: [Bool] = []
        await advance(app) {
            expiries.append(app.tokens.currentTokens?.isExpired(at: app.time.wallClock) ?? true)
            return app.backend.refreshCalls >= 3
        }
        keeping.cancel()
        await keeping.value
        #expect(!expiries.contains(true))
        #expect(app.backend.reuseDetected == 0)
        #expect(app.transport.requests.allSatisfy { $0.path == "/auth/refresh" })
    }

    @Test("a session that begins later is kept fresh, and one that has ended is left alone") func laterSession()
        async throws
    {
        let app = App()
        let keeping = Task { await app.tokens.keepFresh() }
        await app.tokens.restore()
        try await app.tokens.signIn(with: app.backend.issue())
        await advance(app) { app.backend.refreshCalls >= 1 }
        await app.tokens.signOut()
        let count = app.backend.refreshCalls
        for _ in 0..<100 {
            app.time.advance(by: .seconds(3600))
            await Task.yield()
        }
        #expect(app.backend.refreshCalls == count)
        keeping.cancel()
        await keeping.value
    }

    @Test("a refresh that fails is tried again after its backoff, and not at once") func failing() async throws {
        let backend = SimulatedBackend()
        let app = try await App.signedIn(backend)
        let failures = Locked(0)
        backend.beforeRefresh { _ in
            failures.withLock { count in
                count += 1
                return count <= 3 ? .status(503) : nil
            }
        }
        let keeping = Task { await app.tokens.keepFresh() }
        await advance(app) { backend.refreshCalls >= 4 }
        #expect(failures.withLock { $0 } >= 4)
        keeping.cancel()
        await keeping.value
        #expect(app.tokens.isSignedIn)
    }

    @Test("a refresh that failed without a network is tried again when the network is back") func networkReturns()
        async throws
    {
        let (time, network, attempts) = (ManualTimeSource(), ManualConnectivityMonitor(isConnected: true), Locked(0))
        var policy = SessionPolicy()
        policy.firstBackoff = .seconds(60)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .custom { _, _ in
                guard
                    attempts.withLock({ count in
                        count += 1
                        return count > 1
                    })
                else { throw RefreshError(.timedOut, description: "no answer") }
                return .fresh(2)
            }, policy: policy, transport: StubTransport { _ in .status(404) },
            connectivity: network, time: time, random: { $0.upperBound })
        try await tokens.signIn(with: .fresh(1, lifetime: .seconds(3600)))
        let events = tokens.events
        let keeping = Task { await tokens.keepFresh() }
        await time.waitForSleepers(1)
        time.advance(by: .seconds(3599))
        _ = await events.first { if case .refreshFailed = $0 { true } else { false } }
        await network.waitForSubscribers()
        // Nothing but the task that keeps the token fresh sleeps that long: for the backoff.
        await time.waitForSleepers(1, for: .seconds(31))
        network.setConnected(false)
        network.setConnected(true)
        // The backoff lasts longer than a second, which is the shortest time between two attempts.
        let success = Task { await events.first { if case .refreshSucceeded = $0 { true } else { false } } }
        time.advance(by: .seconds(1))
        _ = await success.value
        keeping.cancel()
        await keeping.value
        #expect(attempts.withLock { $0 } == 2)
    }

    @Test("several callers share each refresh") func shared() async throws {
        let app = try await App.signedIn()
        let keeping = (0..<50).map { _ in Task { await app.tokens.keepFresh() } }
        await advance(app) { app.backend.refreshCalls >= 2 }
        for task in keeping { task.cancel() }
        for task in keeping { await task.value }
        #expect(app.backend.reuseDetected == 0)
        #expect(app.tokens.isSignedIn)
    }

    @Test("a token of an unstated lifetime is left to the server") func unstated() async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = nil }
        let app = try await App.signedIn(backend)
        let keeping = Task { await app.tokens.keepFresh() }
        for _ in 0..<100 {
            app.time.advance(by: .seconds(86_400))
            await Task.yield()
        }
        #expect(backend.refreshCalls == 0)
        keeping.cancel()
        await keeping.value
    }
}
