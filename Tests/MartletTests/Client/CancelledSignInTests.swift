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
                    if status == 303 { return .status(303, headers: [.location: "/auth/token"]) }
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

    private struct Observer: NetworkObserver {
        let log: Log

        func observe(_ event: CallEvent) {
            switch event {
            case .redirected: log.add("redirected")
            case .finished: log.add("finished")
            default: break
            }
        }
    }

    private func client(of server: Server, hasCache: Bool = false, observers: [any NetworkObserver] = [])
        -> NetworkClient
    {
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), transport: server.transport, time: ManualTimeSource())
        var config = NetworkConfig()
        if hasCache { config.cache = HTTPCache() }
        config.observers = observers
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

    @Test("revokes tokens that arrive later, although it has a form with a picture and a monitor") func form()
        async throws
    {
        let server = Server()
        let client = client(of: server)
        var form = MultipartForm()
        form.append("Ada", named: "name")
        form.append(Data([1, 2, 3]), named: "image", filename: "a.png")
        let signIn = Task { [form] in
            try await client.signIn(Call<NoContent>.post("/auth/login", .multipart(form)), monitor: TransferMonitor())
        }
        await server.gate.waitForArrivals()
        signIn.cancel()
        await #expect(throws: NetworkError.self) { try await signIn.value }
        server.gate.open()
        while server.revoked.lines.isEmpty { await Task.yield() }
        #expect(server.revoked.lines[0].contains("refresh-1"))
    }

    @Test("is the last event of its call, although the server redirects it later") func redirected() async throws {
        let server = Server(status: 303)
        let log = Log()
        let client = client(of: server, observers: [Observer(log: log)])
        let signIn = Task { try await client.signIn(login) }
        await server.gate.waitForArrivals()
        signIn.cancel()
        await #expect(throws: NetworkError.self) { try await signIn.value }
        server.gate.open()
        while server.revoked.lines.isEmpty { await Task.yield() }
        #expect(log.lines == ["finished"])
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
