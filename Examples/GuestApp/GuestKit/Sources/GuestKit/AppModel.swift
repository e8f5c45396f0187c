public import Martlet
public import MartletUI

/// What the app holds for its whole life: the session, the login, and the client that everything is sent with.
@MainActor public final class AppModel {
    /// Which screen is shown.
    public let session: SessionModel
    /// The login.
    public let login: GuestLoginModel
    /// Sends everything.
    public let client: NetworkClient

    /// An app before a server.
    /// - Parameters:
    ///   - server: Where the server is.
    ///   - store: Where the session is kept.
    ///   - transport: Sends requests.
    ///   - registration: How guests are registered; over the client if `nil`.
    public init(
        server: BaseURL, store: any TokenStore, transport: any Transport = .platformDefault,
        registration: ((NetworkClient) -> GuestRegistration)? = nil
    ) {
        // The reference backend on a Mac speaks plain http, and from a device it is another machine. An app of yours
        // leaves both of these out, and speaks https.
        let allowsInsecureHTTP = true
        let tokens = TokenManager(
            baseURL: server, store: store, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), allowsInsecureHTTP: allowsInsecureHTTP, transport: transport)
        var config = NetworkConfig()
        config.envelope = .standard
        config.allowsInsecureHTTP = allowsInsecureHTTP
        client = NetworkClient(tokens: tokens, config: config)
        session = SessionModel(tokens)
        login = GuestLoginModel(registration?(client) ?? GuestRegistration(client))
    }

    /// The articles, for whoever is signed in now.
    public func makeArticles() -> ArticlesModel {
        ArticlesModel(client)
    }
}
