public import HTTPTypes

/// An ``APIRequest`` as a value, for calls that do not need a type of their own.
///
/// ```swift
/// let created = try await client.send(Call<Article>.post("/articles", .json(draft)))
/// let articles = try await client.send(Call<[Article]>.get("/articles"))
/// ```
public struct Call<Response: Decodable & Sendable>: APIRequest {
    /// The path; see ``Endpoint/path``.
    public var path: RequestPath
    /// The method.
    public var method: HTTPRequest.Method
    /// The query.
    public var query: Query
    /// Header fields of this call.
    public var headers: HTTPFields
    /// The body.
    public var body: RequestBody?
    /// Whether the call carries an access token.
    public var authentication: AuthenticationRequirement
    /// The statuses that count as success.
    public var acceptableStatuses: StatusCodes
    /// The time limit of one attempt; the client's timeout if `nil`.
    public var timeout: Duration?
    /// The time that the call waits for a network; the client's time if `nil`.
    public var connectivityTimeout: Duration?
    /// Whether the call may refresh the access token and be replayed; see ``Endpoint/allowsRefresh``.
    public var allowsRefresh: Bool

    /// Creates a call.
    public init(
        _ method: HTTPRequest.Method, _ path: RequestPath, query: Query = [:], headers: HTTPFields = [:],
        body: RequestBody? = nil, authentication: AuthenticationRequirement = .ifSignedIn,
        acceptableStatuses: StatusCodes = .successful, timeout: Duration? = nil,
        connectivityTimeout: Duration? = nil, allowsRefresh: Bool = true
    ) {
        self.path = path
        self.method = method
        self.query = query
        self.headers = headers
        self.body = body
        self.authentication = authentication
        self.acceptableStatuses = acceptableStatuses
        self.timeout = timeout
        self.connectivityTimeout = connectivityTimeout
        self.allowsRefresh = allowsRefresh
    }

    /// Creates a GET.
    public static func get(
        _ path: RequestPath, query: Query = [:], headers: HTTPFields = [:],
        authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.get, path, query: query, headers: headers, authentication: authentication) }

    /// Creates a POST.
    public static func post(
        _ path: RequestPath, _ body: RequestBody? = nil, query: Query = [:], headers: HTTPFields = [:],
        authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.post, path, query: query, headers: headers, body: body, authentication: authentication) }

    /// Creates a PUT.
    public static func put(
        _ path: RequestPath, _ body: RequestBody? = nil, query: Query = [:], headers: HTTPFields = [:],
        authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.put, path, query: query, headers: headers, body: body, authentication: authentication) }

    /// Creates a PATCH.
    public static func patch(
        _ path: RequestPath, _ body: RequestBody? = nil, query: Query = [:], headers: HTTPFields = [:],
        authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.patch, path, query: query, headers: headers, body: body, authentication: authentication) }

    /// Creates a DELETE.
    public static func delete(
        _ path: RequestPath, query: Query = [:], headers: HTTPFields = [:],
        authentication: AuthenticationRequirement = .ifSignedIn
    ) -> Call { Call(.delete, path, query: query, headers: headers, authentication: authentication) }
}

extension Call: CustomReflectable {
    /// The method, the path, and the query and header fields with secrets masked.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method.rawValue, "path": Redaction.redactURL(path.text), "query": query,
                "headers": headers.redacted,
            ], displayStyle: .struct)
    }
}
