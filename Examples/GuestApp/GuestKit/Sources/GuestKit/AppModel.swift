public import Martlet
public import MartletUI

/// The app's long-lived objects: the session, the login and the client.
@MainActor public final class AppModel {
    /// The session, which selects the screen.
    public let session: SessionModel
    /// The login form.
    public let login: GuestLoginModel
    /// The client that sends all requests.
    public let client: NetworkClient
    let tokens: TokenManager

    /// Creates the model.
    /// - Parameters:
    ///   - server: The base URL of the server.
    ///   - store: The store of the session.
    ///   - transport: The transport that sends requests.
    ///   - registration: Creates the registration of guests. Uses the client by default.
    public init(
        server: BaseURL, store: any TokenStore, transport: any Transport = .platformDefault,
        registration: ((NetworkClient) -> GuestRegistration)? = nil
    ) {
        tokens = Backend.tokens(server: server, store: store, transport: transport)
        client = Backend.client(tokens)
        session = SessionModel(tokens)
        login = GuestLoginModel(registration?(client) ?? GuestRegistration(client))
    }

    /// Creates the model of the article list for the current session.
    public func makeArticles() -> ArticlesModel {
        ArticlesModel(client)
    }
}
