import GRPCCore
import GRPCInProcessTransport
import GRPCSession
import Martlet
import MartletTesting
import Synchronization
import Testing

@Suite("A session for gRPC", .timeLimit(.minutes(10))) struct GRPCSessionTests {
    /// A manager whose refreshes issue `access-2`, `access-3` and so on.
    private final class Issuer: Sendable {
        let count: @Sendable () -> Int
        let time = ManualTimeSource()
        let tokens: TokenManager

        init(_ scheme: AuthenticationScheme = .bearer) {
            let refreshes = Counter()
            count = { refreshes.value }
            tokens = TokenManager(
                baseURL: "https://grpc.example.com", store: .inMemory,
                refresher: HTTPTokenRefresher.custom { _, _ in
                    let number = refreshes.increment() + 1
                    return Tokens(
                        accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"),
                        lifetime: .seconds(3600))
                }, scheme: scheme, time: time)
        }

        var session: GRPCSession { GRPCSession(tokens: tokens, authority: "grpc.example.com") }

        func signIn(_ token: String = "access-1") async throws {
            try await tokens.signIn(
                with: Tokens(accessToken: Secret(token), refreshToken: "refresh-1", lifetime: .seconds(3600)))
        }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }

        func increment() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// A client of a service in this process.
    private struct Echo: Sendable {
        let client: GRPCClient<InProcessTransport.Client>

        func callAsFunction(_ messages: [String], _ metadata: Metadata = [:]) async throws -> [String] {
            let request = StreamingClientRequest<String>(metadata: metadata) { writer in
                for message in messages { try await writer.write(message) }
            }
            return try await client.bidirectionalStreaming(
                request: request, descriptor: EchoService.method, serializer: TextSerializer(),
                deserializer: TextSerializer(), options: .defaults
            ) { response in
                try await response.messages.reduce(into: [String]()) { $0.append($1) }
            }
        }
    }

    private func withEcho(
        _ service: EchoService, interceptedBy session: GRPCSession? = nil,
        _ body: @escaping @Sendable (Echo) async throws -> Void
    ) async throws {
        let transport = InProcessTransport()
        let interceptors: [any ClientInterceptor] = session.map { [$0.interceptor] } ?? []
        try await withGRPCServer(transport: transport.server, services: [service]) { _ in
            try await withGRPCClient(transport: transport.client, interceptors: interceptors) { client in
                try await body(Echo(client: client))
            }
        }
    }

    @Test("an RPC carries the token, and its messages arrive") func signed() async throws {
        let (issuer, service) = (Issuer(), EchoService(accepting: ["access-1"]))
        try await issuer.signIn()
        try await withEcho(service) { echo in
            let messages = try await issuer.session.call { try await echo(["a", "b"], $0) }
            #expect(messages == ["a", "b"])
        }
        #expect(service.tokens == ["access-1"])
    }

    @Test("a token that has expired is refreshed before the RPC", arguments: [false, true])
    func expired(isIntercepted: Bool) async throws {
        let (issuer, service) = (Issuer(), EchoService(accepting: ["access-2"]))
        try await issuer.signIn()
        issuer.time.advance(by: .seconds(7200))
        try await withEcho(service, interceptedBy: isIntercepted ? issuer.session : nil) { echo in
            if isIntercepted {
                _ = try await echo(["a"])
            } else {
                _ = try await issuer.session.call { try await echo(["a"], $0) }
            }
        }
        #expect(service.tokens == ["access-2"])
    }

    @Test(
        "50 rejected RPCs share one refresh, and each is repeated once, with all its messages",
        arguments: [false, true])
    func rejected(isIntercepted: Bool) async throws {
        let (issuer, service) = (Issuer(), EchoService(accepting: ["access-2"]))
        try await issuer.signIn()
        try await withEcho(service, interceptedBy: isIntercepted ? issuer.session : nil) { echo in
            try await withThrowingTaskGroup { group in
                for number in 0..<50 {
                    group.addTask {
                        let messages = try await issuer.session.call { try await echo(["\(number)", "b"], $0) }
                        #expect(messages == ["\(number)", "b"])
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(issuer.count() == 1)
        #expect(service.tokens.filter { $0 == "access-2" }.count == 50)
    }

    @Test("a second rejection is the caller's") func rejectedTwice() async throws {
        let (issuer, service) = (Issuer(), EchoService(accepting: []))
        try await issuer.signIn()
        try await withEcho(service) { echo in
            let error = await #expect(throws: RPCError.self) {
                try await issuer.session.call { try await echo(["a"], $0) }
            }
            #expect(error?.code == .unauthenticated)
        }
        #expect(service.tokens == ["access-1", "access-2"])
        #expect(issuer.tokens.isSignedIn)
    }

    @Test("an RPC of a user who has signed out is not repeated for the next user") func otherUser() async throws {
        let issuer = Issuer()
        try await issuer.signIn()
        let service = EchoService(accepting: ["other"]) {
            await issuer.tokens.signOut()
            try? await issuer.signIn("other")
        }
        try await withEcho(service) { echo in
            await #expect(throws: SessionError.sessionChanged) {
                try await issuer.session.call { try await echo(["a"], $0) }
            }
        }
        #expect(service.tokens == ["access-1"])
    }

    @Test("an interceptor lets a rejected RPC fail, and the next one has a new token") func intercepted() async throws {
        let (issuer, service) = (Issuer(), EchoService(accepting: ["access-2"]))
        try await issuer.signIn()
        try await withEcho(service, interceptedBy: issuer.session) { echo in
            let error = await #expect(throws: RPCError.self) { try await echo(["a"]) }
            #expect(error?.code == .unauthenticated)
            _ = try await echo(["a"])
        }
        #expect(service.tokens == ["access-1", "access-2"])
    }

    @Test("an RPC with an authorization of its own is signed if the manager's scheme uses another field")
    func otherField() async throws {
        let name = "x-session-token"
        let scheme = AuthenticationScheme(header: try #require(HTTPField.Name(name)), prefix: "Bearer")
        let (issuer, service) = (Issuer(scheme), EchoService(accepting: ["access-1"], in: name))
        try await issuer.signIn()
        try await withEcho(service, interceptedBy: issuer.session) { echo in
            _ = try await echo(["a"], ["authorization": "Basic Z2F0ZXdheQ=="])
        }
        #expect(service.tokens == ["access-1"])
    }

    @Test("an RPC with a token of its own keeps it") func ownToken() async throws {
        let (issuer, service) = (Issuer(), EchoService(accepting: ["own"]))
        try await issuer.signIn()
        try await withEcho(service, interceptedBy: issuer.session) { echo in
            _ = try await echo(["a"], ["authorization": "Bearer own"])
        }
        #expect(service.tokens == ["own"])
    }

    @Test("a server that the manager does not trust gets no token") func untrusted() async throws {
        let (issuer, service) = (Issuer(), EchoService(accepting: [""]))
        try await issuer.signIn()
        let session = GRPCSession(tokens: issuer.tokens, authority: "grpc.example.net")
        try await withEcho(service, interceptedBy: session) { echo in
            _ = try await session.call { try await echo(["a"], $0) }
        }
        #expect(service.tokens == [""])
    }
}
