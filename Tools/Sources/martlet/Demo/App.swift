internal import Martlet
internal import ReferenceBackend

/// The parts that the demo's app is made from.
struct DemoSetup: Sendable {
    let server: ReferenceBackend
    let sessionFile: String
    /// The path of the guest's picture.
    let image: String
}

/// The demo's app: a token manager and a client. A second instance on the same session file is the app after a restart.
struct App: Sendable {
    let tokens: TokenManager
    let client: NetworkClient

    init(_ setup: DemoSetup, watchedBy recorder: Recorder) {
        // A token that lives two seconds is refreshed after one.
        var policy = SessionPolicy()
        policy.leewayFraction = 0.5
        tokens = TokenManager(
            baseURL: BaseURL(setup.server.baseURL),
            store: .file(path: setup.sessionFile),
            refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"),
            policy: policy)

        var config = NetworkConfig()
        config.envelope = ResponseEnvelope()
        config.observers = [recorder]
        client = NetworkClient(tokens: tokens, config: config)

        recorder.follow(tokens.events)
    }

    /// Sends `count` calls at the same time.
    /// - Returns: The result of each call.
    func burst(_ count: Int) async -> [Result<User, NetworkError>] {
        await withTaskGroup { group in
            for _ in 0..<count {
                group.addTask { [client] () -> Result<User, NetworkError> in
                    do throws(NetworkError) {
                        return .success(try await client.send(Profile()))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
