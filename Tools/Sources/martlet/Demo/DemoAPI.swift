internal import Martlet

// Everything that an app has to write to describe its server.

/// The user as the server describes it.
struct User: Decodable, Sendable {
    let id: String
    let name: String
    let isGuest: Bool
}

/// Requests the signed-in user.
struct Profile: APIRequest {
    typealias Response = User
    let path: RequestPath = "/me"
    let authentication = AuthenticationRequirement.required
}

/// An article, and what it takes to write one.
struct Article: Decodable, Sendable {
    let id: String
    let title: String

    struct Draft: Encodable, Sendable {
        let title: String
        let body: String
    }
}

struct ArticlePage: Decodable, Sendable {
    let items: [Article]
}

/// Lists the user's articles, or adds one.
enum ArticleEndpoint: APIEndpoint {
    case all
    case create(Article.Draft)

    var path: RequestPath { "/articles" }
    var method: HTTPRequest.Method { if case .create = self { .post } else { .get } }
    var body: RequestBody? { if case .create(let draft) = self { .json(draft) } else { nil } }
    var authentication: AuthenticationRequirement { .required }
}

/// Downloads a picture.
struct Picture: APIEndpoint {
    let path: RequestPath
    var authentication: AuthenticationRequirement { .none }
}

/// The two ways to get a session with a password. Both responses contain the user and the tokens.
enum AccountEndpoint: APIEndpoint {
    case upgrade(Credentials)
    case login(Credentials)

    struct Credentials: Encodable, Sendable {
        let email: String
        let password: String
    }

    var path: RequestPath { if case .upgrade = self { "/auth/upgrade" } else { "/auth/login" } }
    var method: HTTPRequest.Method { .post }
    var authentication: AuthenticationRequirement { if case .upgrade = self { .required } else { .none } }
    var body: RequestBody? {
        switch self {
        case .upgrade(let credentials), .login(let credentials): .json(credentials)
        }
    }
}

struct Account: Decodable, Sendable {
    let user: User
}

/// Asks the server whether it still accepts a token.
struct TokenProbe: APIRequest {
    struct Response: Decodable, Sendable {
        let authorizationValid: Bool
    }

    let token: Secret
    let path: RequestPath = "/public/ping"
    var headers: HTTPFields { [.authorization: "Bearer \(token.reveal())"] }
}
