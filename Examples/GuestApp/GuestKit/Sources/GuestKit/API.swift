internal import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An article as the server has it.
public struct Article: Decodable, Sendable, Identifiable, Hashable {
    /// The server's id for it.
    public let id: String
    /// One line.
    public let title: String
    /// The text.
    public let body: String
    /// When it was written.
    public let createdAt: Date

    /// An article that is not there yet.
    public struct Draft: Encodable, Sendable, Hashable {
        /// One line.
        public var title: String
        /// The text.
        public var body: String

        /// An article to be.
        public init(title: String = "", body: String = "") {
            self.title = title
            self.body = body
        }

        /// Whether there is something to send.
        public var isComplete: Bool { title.contains { !$0.isWhitespace } }
    }
}

/// Whoever is signed in.
public struct User: Decodable, Sendable, Hashable {
    /// The server's id.
    public let id: String
    /// The name that others see.
    public let name: String
    /// The picture's key at the server, where there is a picture.
    public let profileImageKey: String?

    /// Whoever it is.
    public init(id: String, name: String, profileImageKey: String? = nil) {
        self.id = id
        self.name = name
        self.profileImageKey = profileImageKey
    }
}

struct ArticlePage: Decodable, Sendable {
    let items: [Article]
}

enum ArticleEndpoint: APIEndpoint {
    case newest
    case create(Article.Draft)
    case delete(id: String)

    var path: String {
        switch self {
        case .newest, .create: "/articles"
        case .delete(let id): "/articles/\(id)"
        }
    }

    var method: HTTPRequest.Method {
        switch self {
        case .newest: .get
        case .create: .post
        case .delete: .delete
        }
    }

    var query: Query { if case .newest = self { ["size": 100] } else { [] } }
    var body: RequestBody? { if case .create(let draft) = self { .json(draft) } else { nil } }
    var authentication: AuthenticationRequirement { .required }
}

struct Profile: APIRequest {
    typealias Response = User
    let path = "/me"
    let authentication = AuthenticationRequirement.required
}
