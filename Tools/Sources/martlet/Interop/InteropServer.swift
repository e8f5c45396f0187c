internal import ArgumentParser
internal import Martlet

/// A server of `Tools/Interop`, as an app knows it.
enum InteropServer: String, CaseIterable, Sendable, ExpressibleByArgument {
    case simpleJWT = "simple_jwt"
    case oauthToolkit = "oauth_toolkit"
    case flaskJWT = "flask_jwt"

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var title: String {
        switch self {
        case .simpleJWT: "Django SimpleJWT"
        case .oauthToolkit: "Django OAuth Toolkit"
        case .flaskJWT: "Flask-JWT-Extended"
        }
    }

    var signIn: Call<NoContent> {
        switch self {
        case .simpleJWT: Call(.post, "/api/token/", body: .json(["username": "ada", "password": "interop"]))
        case .oauthToolkit:
            Call(
                .post, "/o/token/",
                body: .form([
                    "grant_type": "password", "username": "ada", "password": "interop", "client_id": "app",
                ]))
        case .flaskJWT: Call(.post, "/login")
        }
    }

    /// A client of the server over the record that all processes share.
    func client(port: Int, store: any TokenStore) -> (client: NetworkClient, tokens: TokenManager) {
        let tokens = TokenManager(
            baseURL: BaseURL("http://127.0.0.1:\(port)"), store: store, refresher: refresher,
            accessTokenRejection: rejection)
        var config = NetworkConfig()
        // Count every failed call, even if a retry would have succeeded.
        config.retry = .never
        return (NetworkClient(tokens: tokens, config: config), tokens)
    }

    private var refresher: HTTPTokenRefresher {
        switch self {
        case .simpleJWT: .simpleJWT()
        case .oauthToolkit: .djangoOAuthToolkit(client: OAuthClient(id: "app"))
        case .flaskJWT: .flaskJWTExtended()
        }
    }

    private var rejection: AccessTokenRejectionRule {
        switch self {
        case .simpleJWT: .unauthorized
        // `protected_resource` rejects a dead token with 403.
        case .oauthToolkit: .status(401, 403)
        case .flaskJWT: .status(401, 422)
        }
    }
}
