internal import Martlet
internal import ReferenceBackend

/// What the demo is played with.
struct Props: Sendable {
    /// The server.
    let server: ReferenceBackend
    /// Where the app keeps its session.
    let sessionFile: String
    /// The guest's picture.
    let image: String
}

/// What an app holds for its whole life. A second one on the same file is the app after a restart.
struct App: Sendable {
    let tokens: TokenManager
    let client: NetworkClient

    init(_ props: Props, watchedBy recorder: Recorder) {
        // Tokens of two seconds are renewed after one; with the defaults a token is left alone for its first five.
        var policy = SessionPolicy()
        policy.leewayFraction = 0.5
        policy.minimumInterval = .milliseconds(500)
        tokens = TokenManager(
            baseURL: BaseURL(props.server.baseURL),
            store: .file(path: props.sessionFile),
            refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"),
            policy: policy)

        var config = NetworkConfig()
        config.envelope = .standard
        config.observers = [recorder]
        client = NetworkClient(tokens: tokens, config: config)

        recorder.follow(tokens.events)
    }

    /// Sends many calls at the same time.
    /// - Returns: What became of each.
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
