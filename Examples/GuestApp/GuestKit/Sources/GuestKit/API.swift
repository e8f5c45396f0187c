internal import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An article.
public struct Article: Decodable, Sendable, Identifiable, Hashable {
    /// The id.
    public let id: String
    /// The title.
    public let title: String
    /// The text.
    public let body: String
    /// The time of its creation.
    public let createdAt: Date

    /// A new article that has not been published.
    public struct Draft: Encodable, Sendable, Hashable {
        /// The title.
        public var title: String
        /// The text.
        public var body: String

        /// Creates a draft.
        public init(title: String = "", body: String = "") {
            self.title = title
            self.body = body
        }

        /// Whether the draft can be published. A title is required.
        public var isComplete: Bool { title.contains { !$0.isWhitespace } }
    }
}

/// The signed-in user.
public struct User: Decodable, Sendable, Hashable {
    /// The id.
    public let id: String
    /// The public name.
    public let name: String
    /// The key of the user's picture, or `nil` if there is none.
    public let profileImageKey: String?

    /// Creates a user.
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

    var path: RequestPath {
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

    var query: Query { if case .newest = self { ["size": 100] } else { [:] } }
    var body: RequestBody? { if case .create(let draft) = self { .json(draft) } else { nil } }
    var authentication: AuthenticationRequirement { .required }
}

struct Profile: APIRequest {
    typealias Response = User
    let path: RequestPath = "/me"
    let authentication = AuthenticationRequirement.required
}
