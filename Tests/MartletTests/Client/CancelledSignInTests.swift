import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A cancelled sign-in", .timeLimit(.minutes(10))) struct CancelledSignInTests {
    /// A server whose response to a sign-in waits at a gate. Like most transports, it returns nothing to a cancelled
    /// task.
    private final class Server: Sendable {
        let gate = Gate()
        let status: Int
        let revoked = Log()

        init(status: Int = 200) {
            self.status = status
        }

        var transport: StubTransport {
            StubTransport { [self] request in
                switch request.path {
                case "/auth/login":
                    await gate.pass()
                    try Task.checkCancellation()
                    guard status == 200 else { return .status(status) }
                    return .json(#"{"accessToken":"access-1","refreshToken":"refresh-1"}"#)
                case "/auth/token":
                    return .json(#"{"accessToken":"access-2","refreshToken":"refresh-2"}"#)
                default:
                    revoked.add(request.text)
                    return .status(204)
                }
            }
        }
    }

    private func client(of server: Server, hasCache: Bool = false) -> NetworkClient {
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), transport: server.transport, time: ManualTimeSource())
        var config = NetworkConfig()
        if hasCache { config.cache = HTTPCache() }
        return NetworkClient(tokens: tokens, config: config)
    }

    private let login = Call<NoContent>.post("/auth/login", .json(["email": "ada@example.com"]))

    @Test("ends at once, and tokens that arrive later are revoked", arguments: [false, true])
    func revoked(hasCache: Bool) async throws {
        let server = Server()
        let client = client(of: server, hasCache: hasCache)
        let signIn = Task { try await client.signIn(login) }
        await server.gate.waitForArrivals()
        signIn.cancel()
        let error = await #expect(throws: NetworkError.self) { try await signIn.value }
        #expect(error?.isCancelled == true && server.revoked.lines.isEmpty)
        server.gate.open()
        while server.revoked.lines.isEmpty { await Task.yield() }
        #expect(server.revoked.lines.count == 1 && server.revoked.lines[0].contains("refresh-1"))
        #expect(client.tokens?.state == .signedOut || client.tokens?.state == .loading)
    }

    @Test("revokes nothing if the server refuses it") func refused() async throws {
        let server = Server(status: 401)
        let client = client(of: server)
        let signIn = Task { try await client.signIn(login) }
        await server.gate.waitForArrivals()
        signIn.cancel()
        await #expect(throws: NetworkError.self) { try await signIn.value }
        server.gate.open()
        try await client.signIn(Call<NoContent>.post("/auth/token", .json(["code": "1"])))
        await client.tokens?.signOut(waitingForServer: .seconds(5))
        #expect(server.revoked.lines.count == 1 && server.revoked.lines[0].contains("refresh-2"))
    }

    @Test("sends nothing if it is cancelled before it begins") func unsent() async {
        let server = Server()
        let client = client(of: server)
        let signIn = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await client.signIn(login)
        }
        await #expect(throws: NetworkError.self) { try await signIn.value }
        server.gate.open()
        #expect(server.revoked.lines.isEmpty)
    }
}
