@_exported public import HTTPTypes

/// What a call is: where it goes, what it carries, whether it needs a token.
///
/// Conform to one of its two kinds: ``APIEndpoint``, whose caller names the response, or ``APIRequest``, which has its
/// response bound to it. Everything but ``path`` has a default, so that a GET is one line.
///
/// ```swift
/// enum ArticleEndpoint: APIEndpoint {
///     case all, one(id: Int), create(Article.Draft)
///
///     var path: String {
///         switch self {
///         case .all, .create: "/articles"
///         case .one(let id): "/articles/\(id)"
///         }
///     }
///     var method: HTTPRequest.Method { if case .create = self { .post } else { .get } }
///     var body: RequestBody? { if case .create(let draft) = self { .json(draft) } else { nil } }
/// }
/// ```
public protocol Endpoint: Sendable {
    /// Where the call goes: a path below the client's base URL, with or without a leading slash.
    ///
    /// What a path may not contain is percent-encoded, `?` and `#` included (use ``query``); percent-escapes that stand
    /// there already are kept. A path with `.` or `..` segments, escaped or not, is refused, since it could leave the base. An absolute
    /// `http` or `https` URL is used as it stands, and gets a token only if its origin is one that tokens may go to.
    var path: String { get }
    /// The method; GET by default.
    var method: HTTPRequest.Method { get }
    /// The query, in order; empty by default.
    var query: Query { get }
    /// Header fields of this call; they replace the client's fields of the same name. Empty by default.
    var headers: HTTPFields { get }
    /// The body; none by default.
    var body: RequestBody? { get }
    /// Whether the call needs a token; ``AuthenticationRequirement/ifSignedIn`` by default.
    var authentication: AuthenticationRequirement { get }
    /// The statuses that count as success; 200 to 299 by default.
    var acceptableStatuses: StatusCodes { get }
    /// How long one attempt may take from its start to the last byte of the answer; the client's own timeout if `nil`.
    var timeout: Duration? { get }
}

extension Endpoint {
    /// GET.
    public var method: HTTPRequest.Method { .get }
    /// No query.
    public var query: Query { [] }
    /// No fields of its own.
    public var headers: HTTPFields { [:] }
    /// No body.
    public var body: RequestBody? { nil }
    /// A token where there is one.
    public var authentication: AuthenticationRequirement { .ifSignedIn }
    /// 200 to 299.
    public var acceptableStatuses: StatusCodes { .successful }
    /// The client's own timeout.
    public var timeout: Duration? { nil }
}

/// An endpoint whose caller names the response: `let articles: [Article] = try await client.send(ArticleEndpoint.all)`.
public protocol APIEndpoint: Endpoint {}

/// An endpoint with its response bound to it: `let me = try await client.send(Profile())`.
///
/// ```swift
/// struct Profile: APIRequest {
///     typealias Response = User
///     let path = "/me"
/// }
/// ```
public protocol APIRequest: Endpoint {
    /// What the server answers.
    associatedtype Response: Decodable & Sendable
}

/// Whether a call needs a token.
public enum AuthenticationRequirement: Sendable, Hashable {
    /// No token, signed in or not: sign-in itself, public pages.
    case none
    /// A token when somebody is signed in; without one the call goes out bare.
    case ifSignedIn
    /// A token, or the call fails with ``NetworkError/signInRequired(_:)`` before anything is sent.
    case required
}

/// A set of status codes.
public struct StatusCodes: Sendable, Hashable, ExpressibleByArrayLiteral {
    private let ranges: [Range<Int>]

    /// The union of some ranges: `StatusCodes(200..<300, 304..<305)`.
    public init(_ ranges: Range<Int>...) {
        self.ranges = ranges
    }

    /// Some codes, one by one: `[200, 404]`.
    public init(arrayLiteral elements: Int...) {
        self.ranges = elements.map { $0..<($0 + 1) }
    }

    /// 200 to 299.
    public static let successful = StatusCodes(200..<300)
    /// 200 to 399.
    public static let successfulOrRedirect = StatusCodes(200..<400)
    /// Every status: the caller looks at it itself.
    public static let any = StatusCodes(100..<1000)

    /// Whether the set has the code.
    public func contains(_ code: Int) -> Bool {
        ranges.contains { $0.contains(code) }
    }
}
