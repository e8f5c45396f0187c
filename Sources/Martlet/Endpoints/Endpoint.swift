@_exported public import HTTPTypes
@_exported public import MartletStorage

/// Describes a request: its path, method, header fields and body, and whether it needs an access token.
///
/// Conform to one of two refinements. The caller of an ``APIEndpoint`` names the response type; an ``APIRequest`` has a
/// fixed one. Everything but ``path`` has a default.
///
/// ```swift
/// enum ArticleEndpoint: APIEndpoint {
///     case all, one(id: Int), create(Article.Draft)
///
///     var path: RequestPath {
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
    /// The path below the client's base URL, with or without a leading slash.
    ///
    /// Characters that a path must not contain are percent-encoded; percent escapes in a literal are kept. A literal
    /// with a `?` or a `#` fails the call; use ``query``. Every interpolated value is encoded as data of one segment;
    /// see ``RequestPath``. A path with `.` or `..` segments, escaped or not, is rejected, because it could leave the
    /// base URL.
    ///
    /// An absolute `http` or `https` URL (``RequestPath/absolute(_:)-(String)``) is used unchanged. It gets a token,
    /// ``NetworkConfig/headers`` and the header fields of interceptors only if its origin is the base URL's or a
    /// trusted one.
    var path: RequestPath { get }
    /// The method. The default is GET.
    var method: HTTPRequest.Method { get }
    /// The query. The default is empty.
    var query: Query { get }
    /// Header fields of this call. They replace fields of the same name in ``NetworkConfig/headers``. The default is
    /// empty.
    var headers: HTTPFields { get }
    /// The body. The default is `nil`.
    var body: RequestBody? { get }
    /// Whether the call carries an access token. The default is ``AuthenticationRequirement/ifSignedIn``.
    var authentication: AuthenticationRequirement { get }
    /// The statuses that count as success. The default is 200 to 299.
    var acceptableStatuses: StatusCodes { get }
    /// The time limit of one attempt, as ``NetworkConfig/timeout`` describes it. The default is `nil`: the client's
    /// limit.
    var timeout: Duration? { get }
    /// The longest time that the call waits for a network, counted from its start. With zero, it does not wait. The
    /// default is `nil`: the client's time (``NetworkConfig/connectivityTimeout``). A call with a single-use body does
    /// not wait.
    var connectivityTimeout: Duration? { get }
    /// Whether the call may refresh the access token and be replayed with the new one. The default is `true`.
    ///
    /// With `false`, the call starts no refresh and waits for none. It carries the session's access token as it is,
    /// even if it has expired or the server has rejected it for another call. A response that rejects the token reaches
    /// the caller like any other and does not affect the session. For a 401, that is
    /// ``NetworkError/unauthorized(_:_:)``, or ``NetworkError/api(_:_:)`` if the server explains it.
    /// ``authentication`` still applies: without a session, the call has no token, or fails.
    ///
    /// Use `false` for a call whose 401 the app handles itself, such as one that asks whether a token is still valid.
    /// Background transfers ignore the setting.
    var allowsRefresh: Bool { get }
}

extension Endpoint {
    /// GET.
    public var method: HTTPRequest.Method { .get }
    /// No query.
    public var query: Query { [:] }
    /// No header fields.
    public var headers: HTTPFields { [:] }
    /// No body.
    public var body: RequestBody? { nil }
    /// A token if a user is signed in.
    public var authentication: AuthenticationRequirement { .ifSignedIn }
    /// 200 to 299.
    public var acceptableStatuses: StatusCodes { .successful }
    /// The client's ``NetworkConfig/timeout``.
    public var timeout: Duration? { nil }
    /// The client's ``NetworkConfig/connectivityTimeout``.
    public var connectivityTimeout: Duration? { nil }
    /// The call may refresh the token.
    public var allowsRefresh: Bool { true }
}

/// An endpoint whose caller names the response type:
/// `let articles: [Article] = try await client.send(ArticleEndpoint.all)`.
public protocol APIEndpoint: Endpoint {}

/// An endpoint with a fixed response type: `let me = try await client.send(Profile())`.
///
/// ```swift
/// struct Profile: APIRequest {
///     typealias Response = User
///     var path: RequestPath { "/me" }
/// }
/// ```
public protocol APIRequest: Endpoint {
    /// The type that the response is decoded into.
    associatedtype Response: Decodable & Sendable
}
