import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Calls of a session that wait for a network", .timeLimit(.minutes(10))) struct WaitingSessionTests {
    /// A signed-in client whose device has no network until the test connects it.
    private final class Rig: Sendable {
        let time = ManualTimeSource()
        let network = ManualConnectivityMonitor(isConnected: false)
        let transport: StubTransport
        let tokens: TokenManager
        let client: NetworkClient
        private let isOffline = Locked(false)

        init() async throws {
            let isOffline = isOffline
            transport = StubTransport { request in
                if isOffline.withLock({ $0 }) { return .failure(.offline) }
                if request.path == "/auth/refresh" { return .tokens(Tokens(accessToken: "access-2")) }
                return .json("{}")
            }
            tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
                transport: transport, connectivity: network, time: time)
            try await tokens.signIn(
                with: Tokens(accessToken: "access-1", refreshToken: "refresh-1", lifetime: .seconds(3600)))
            var config = NetworkConfig()
            config.connectivity = network
            config.connectivityTimeout = .seconds(100_000)
            config.retry = .never
            config.time = time
            client = NetworkClient(tokens: tokens, config: config)
            isOffline.withLock { $0 = true }
        }

        func connect() {
            isOffline.withLock { $0 = false }
            network.setConnected(true)
        }
    }

    @Test("a sign-out ends a waiting call at once", arguments: [AuthenticationRequirement.required, .ifSignedIn])
    func signedOut(requirement: AuthenticationRequirement) async throws {
        let rig = try await Rig()
        let call = Task { await error { try await rig.client.send(Get("/me", requirement)) } }
        await rig.network.waitForSubscribers()
        await rig.tokens.signOut()
        let failure = await call.value
        switch failure {
        case .sessionChanged, .signInRequired: break
        default: Issue.record("\(String(describing: failure))")
        }
        #expect(rig.transport.requests(to: "/me").count == 1)
    }

    @Test("a call that needs no session goes on waiting after a sign-out") func withoutSession() async throws {
        let rig = try await Rig()
        let call = Task { try await rig.client.send(Get("/news", .none)) }
        await rig.network.waitForSubscribers()
        await rig.tokens.signOut()
        rig.connect()
        try await call.value
        #expect(rig.transport.requests(to: "/news").map(\.bearer) == [nil, nil])
    }

    @Test("a call that has waited longer than its token lives is sent with the next one") func signedAnew() async throws
    {
        let rig = try await Rig()
        let call = Task { try await rig.client.send(Get("/me")) }
        await rig.network.waitForSubscribers()
        rig.time.advance(by: .seconds(7200))
        rig.connect()
        try await call.value
        #expect(rig.transport.requests(to: "/me").map(\.bearer) == ["access-1", "access-2"])
        #expect(rig.transport.requests(to: "/auth/refresh").count == 1)
    }
}
