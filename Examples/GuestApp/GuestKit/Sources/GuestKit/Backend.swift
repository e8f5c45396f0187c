public import Martlet

/// The settings for the reference backend, which the app and its widget share.
public enum Backend {
    // The reference backend uses plain HTTP, and a device reaches it over the network. Your app should use HTTPS and
    // leave both settings out.
    private static let allowsInsecureHTTP = true

    /// Creates the owner of the session. Each process needs one.
    /// - Parameters:
    ///   - server: The base URL of the server.
    ///   - store: The store of the session.
    ///   - transport: The transport that sends requests.
    public static func tokens(
        server: BaseURL, store: any TokenStore, transport: any Transport = .platformDefault
    ) -> TokenManager {
        TokenManager(
            baseURL: server, store: store, refresher: .json(path: "/auth/refresh"),
            revoker: .json(path: "/auth/logout"), allowsInsecureHTTP: allowsInsecureHTTP, transport: transport)
    }

    /// Creates a client for a session.
    public static func client(_ tokens: TokenManager) -> NetworkClient {
        var config = NetworkConfig()
        config.envelope = ResponseEnvelope()
        config.allowsInsecureHTTP = allowsInsecureHTTP
        return NetworkClient(tokens: tokens, config: config)
    }
}
