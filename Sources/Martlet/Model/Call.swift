public import HTTPTypes

/// A request as a value, for calls that are not worth a type of their own.
///
/// ```swift
/// let created = try await client.send(Call<Article>.post("/articles", .json(draft)))
/// let articles = try await client.send(Call<[Article]>.get("/articles"))
/// ```
public struct Call<Response: Decodable & Sendable>: APIRequest {
    /// Where the call goes; see ``Endpoint/path``.
    public var path: String
    /// The method.
    public var method: HTTPRequest.Method
    /// The query.
    public var query: Query
    /// Header fields of this call.
    public var headers: HTTPFields
    /// The body.
    public var body: RequestBody?
    /// Whether the call needs a token.
    public var authentication: AuthenticationRequirement
    /// The statuses that count as success.
    public var acceptableStatuses: StatusCodes
    /// How long one attempt may take; the client's own timeout if `nil`.
    public var timeout: Duration?

    /// A call in all its parts.
    public init(
        _ method: HTTPRequest.Method, _ path: String, query: Query = [], headers: HTTPFields = [:],
        body: RequestBody? = nil, authentication: AuthenticationRequirement = .ifSignedIn,
        acceptableStatuses: StatusCodes = .successful, timeout: Duration? = nil
    ) {
        self.path = path
        self.method = method
        self.query = query
        self.headers = headers
        self.body = body
        self.authentication = authentication
        self.acceptableStatuses = acceptableStatuses
        self.timeout = timeout
    }

    /// A GET.
    public static func get(
        _ path: String, query: Query = [], authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.get, path, query: query, authentication: authentication) }

    /// A POST.
    public static func post(
        _ path: String, _ body: RequestBody? = nil, authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.post, path, body: body, authentication: authentication) }

    /// A PUT.
    public static func put(
        _ path: String, _ body: RequestBody? = nil, authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.put, path, body: body, authentication: authentication) }

    /// A PATCH.
    public static func patch(
        _ path: String, _ body: RequestBody? = nil, authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.patch, path, body: body, authentication: authentication) }

    /// A DELETE.
    public static func delete(
        _ path: String, authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.delete, path, authentication: authentication) }
}
