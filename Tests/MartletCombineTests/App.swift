import Martlet
import MartletTesting

/// A manager and a client over a server that knows only the newest of its tokens, with clocks that stand still.
struct App {
    let transport: StubTransport
    let tokens: TokenManager
    let client: NetworkClient
    /// The number of the server's newest tokens.
    private let newest: Locked<Int>

    init() {
        let newest = Locked(0)
        self.newest = newest
        transport = StubTransport { request in
            if request.path == "/auth/refresh" { return .tokens(Self.issue(newest)) }
            let isValid = request.bearer == Tokens.fresh(newest.withLock { $0 }).accessToken.reveal()
            return isValid ? .json(#"{"path":"\#(request.path)"}"#) : .status(401)
        }
        let time = ManualTimeSource()
        tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: time)
        client = NetworkClient(tokens: tokens)
    }

    static func signedIn() async throws -> App {
        let app = App()
        try await app.tokens.signIn(with: app.issue())
        return app
    }

    /// Issues new tokens, so that the server rejects the earlier ones.
    @discardableResult func issue() -> Tokens { Self.issue(newest) }

    private static func issue(_ newest: Locked<Int>) -> Tokens {
        .fresh(
            newest.withLock { number in
                number += 1
                return number
            })
    }
}

/// The response of the server to a call.
struct Echo: Decodable, Sendable, Hashable {
    var path: String
}

/// A GET request of a path.
struct Get: APIEndpoint {
    let path: RequestPath
    let authentication: AuthenticationRequirement

    init(_ path: RequestPath, _ authentication: AuthenticationRequirement = .required) {
        self.path = path
        self.authentication = authentication
    }
}

/// A client whose clocks stand still, so that no time limit depends on how busy the machine is.
func client(_ transport: any Transport, _ change: (inout NetworkConfig) -> Void = { _ in }) -> NetworkClient {
    var config = NetworkConfig()
    config.time = ManualTimeSource()
    change(&config)
    return NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
}
