/// A fault that a backend applies to matching requests.
public struct FaultRule: Sendable, Hashable {
    /// The requests that the rule applies to.
    public var pattern: RequestPattern
    /// The number of requests that the rule applies to; `nil` means all.
    public var times: Int?
    /// The number of matching requests that pass before the rule applies.
    public var after: Int
    /// The time that each request waits before the action.
    public var delay: Duration
    /// Whether the request body is read completely before the action.
    public var readsBody: Bool
    /// The action that the backend takes on the requests.
    public var action: Action

    /// An action of the backend on a request.
    public enum Action: Sendable, Hashable {
        /// Handles the request normally, after the delay.
        case proceed
        /// Sends this response without handling the request.
        case respond(Response)
        /// Handles the request and keeps its effects, but sends this response.
        case commitThenRespond(Response)
        /// Closes the connection without a response.
        case dropConnection
        /// Handles the request and keeps its effects, then closes the connection without a response.
        case commitThenDropConnection
        /// Sends no response until the client disconnects, ``BackendControls/releaseHangs()`` is called or the backend
        /// stops.
        case hang
    }

    /// The response of a fault. Without a body, it contains the dialect's error for the status.
    public struct Response: Sendable, Hashable {
        /// The status.
        public var status: Int
        /// The header fields by name.
        public var headers: [String: String]
        /// The body.
        public var body: String?
        /// The `Content-Type` of the body.
        public var contentType: String

        /// Creates a response.
        public init(
            _ status: Int, headers: [String: String] = [:], body: String? = nil,
            contentType: String = "application/json"
        ) {
            self.status = status
            self.headers = headers
            self.body = body
            self.contentType = contentType
        }

        /// Creates a redirect.
        public static func redirect(to location: String, status: Int = 302) -> Response {
            Response(status, headers: ["Location": location], body: "")
        }

        /// Creates an HTML page like that of a captive portal.
        public static func html(_ page: String = "<html><body>Sign in to the network</body></html>") -> Response {
            Response(200, body: page, contentType: "text/html; charset=utf-8")
        }
    }

    /// Creates a rule for the next matching request, or for the next `times` requests.
    public init(
        _ pattern: RequestPattern, _ action: Action, times: Int? = 1, after: Int = 0, delay: Duration = .zero,
        readsBody: Bool = false
    ) {
        self.pattern = pattern
        self.action = action
        self.times = times
        self.after = after
        self.delay = delay
        self.readsBody = readsBody
    }
}

/// Identifies a fault rule of a backend.
public struct FaultID: Sendable, Hashable {
    let number: Int
}
