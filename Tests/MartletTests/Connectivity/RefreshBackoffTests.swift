import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The network's return ends the backoff of a refresh", .timeLimit(.minutes(10))) struct RefreshBackoffTests {
    /// A manager whose refreshes fail with the errors that a test gives it, and then succeed.
    private struct Rig {
        let time = ManualTimeSource()
        let network = ManualConnectivityMonitor()
        let tokens: TokenManager
        private let failures: Locked<[RefreshError]>
        private let attempts = Locked(0)

        var attemptCount: Int { attempts.withLock { $0 } }

        init(failingWith failures: [RefreshError]) async throws {
            let (failures, attempts) = (Locked(failures), attempts)
            self.failures = failures
            tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory,
                refresher: HTTPTokenRefresher.custom { _, _ in
                    attempts.withLock { $0 += 1 }
                    if let failure = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw failure }
                    return Tokens(accessToken: "access-2", refreshToken: "refresh-2", lifetime: .seconds(3600))
                }, connectivity: network, time: time, random: { $0.upperBound })
            try await tokens.signIn(
                with: Tokens(accessToken: "access-1", refreshToken: "refresh-1", lifetime: .seconds(60)))
            time.advance(by: .seconds(120))
        }
    }

    @Test(
        "after a lost connection or a timeout, the next call refreshes at once",
        arguments: [RefreshError.Kind.connection, .timedOut])
    func networkReturned(kind: RefreshError.Kind) async throws {
        let rig = try await Rig(failingWith: [RefreshError(kind, description: "lost")])
        await #expect(throws: SessionError.self) { try await rig.tokens.validTokens() }
        await #expect(throws: SessionError.self) { try await rig.tokens.validTokens() }
        #expect(rig.attemptCount == 1)
        await rig.network.waitForSubscribers()
        rig.network.setConnected(false)
        rig.network.setConnected(true)
        while (try? await rig.tokens.validTokens()) == nil { await Task.yield() }
        #expect(rig.attemptCount == 2)
        #expect(rig.time.uptime == .seconds(120))
    }

    @Test("a network that was available all along does not end it") func noChange() async throws {
        let rig = try await Rig(failingWith: [RefreshError(.timedOut, description: "slow")])
        await #expect(throws: SessionError.self) { try await rig.tokens.validTokens() }
        await rig.network.waitForSubscribers()
        rig.network.setConnected(false)
        for _ in 0..<100 { await Task.yield() }
        await #expect(throws: SessionError.self) { try await rig.tokens.validTokens() }
        #expect(rig.attemptCount == 1)
    }

    @Test("a pause that the server asked for is kept", arguments: [RefreshError.Kind.timedOut, .status(503)])
    func pauseAskedFor(kind: RefreshError.Kind) async throws {
        let rig = try await Rig(failingWith: [RefreshError(kind, retryAfter: .seconds(30), description: "busy")])
        await #expect(throws: SessionError.self) { try await rig.tokens.validTokens() }
        rig.tokens.transition { machine in machine.networkReturned() }
        await #expect(throws: SessionError.self) { try await rig.tokens.validTokens() }
        #expect(rig.attemptCount == 1)
    }

    @Test("a manager that waits for the network is released with its last owner") func released() async throws {
        weak var tokens: TokenManager?
        do {
            let rig = try await Rig(failingWith: [RefreshError(.timedOut, description: "slow")])
            tokens = rig.tokens
            await #expect(throws: SessionError.self) { try await rig.tokens.validTokens() }
            await rig.network.waitForSubscribers()
        }
        while tokens != nil { await Task.yield() }
    }

    @Test("a monitor whose updates have ended is asked again at the next failure") func endedMonitor() async {
        struct Monitor: ConnectivityMonitor {
            let requests = Locked(0)
            var updates: AsyncStream<Bool> {
                requests.withLock { $0 += 1 }
                return AsyncStream { $0.finish() }
            }
        }
        let monitor = Monitor()
        let networkReturn = NetworkReturn(monitor)
        while monitor.requests.withLock({ $0 }) < 2 {
            networkReturn.callOnce {}
            await Task.yield()
        }
    }
}
