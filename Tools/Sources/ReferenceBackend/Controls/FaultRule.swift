/// What a backend does to requests instead of, or besides, answering them properly.
public struct FaultRule: Sendable, Hashable {
    /// Which requests.
    public var pattern: RequestPattern
    /// How many of them; nil means all from then on.
    public var times: Int?
    /// How many of them pass first.
    public var after: Int
    /// How long each waits before anything else happens.
    public var delay: Duration
    /// Whether the request's body is read to its end before the action.
    public var readsBody: Bool
    /// What happens.
    public var action: Action

    /// What happens to a request.
    public enum Action: Sendable, Hashable {
        /// It is handled properly (after the delay).
        case proceed
        /// This answer is given, without handling the request.
        case answer(Answer)
        /// The request is handled, what it changes is kept, and then this answer is given.
        case commitThenAnswer(Answer)
        /// The connection is closed without an answer.
        case dropConnection
        /// The request is handled, what it changes is kept, and then the connection is closed without an answer.
        case commitThenDropConnection
        /// Nothing ever comes, until the client leaves, ``BackendControls/releaseHangs()`` or the backend stops.
        case hang
    }

    /// A made-up answer. Without a body it carries the dialect's own error of that status.
    public struct Answer: Sendable, Hashable {
        /// The status.
        public var status: Int
        /// Header fields by name.
        public var headers: [String: String]
        /// The content.
        public var body: String?
        /// The content's type.
        public var contentType: String

        /// An answer.
        public init(
            _ status: Int, headers: [String: String] = [:], body: String? = nil,
            contentType: String = "application/json"
        ) {
            self.status = status
            self.headers = headers
            self.body = body
            self.contentType = contentType
        }

        /// A redirect.
        public static func redirect(to location: String, status: Int = 302) -> Answer {
            Answer(status, headers: ["Location": location], body: "")
        }

        /// A page as a captive portal shows it.
        public static func html(_ page: String = "<html><body>Sign in to the network</body></html>") -> Answer {
            Answer(200, body: page, contentType: "text/html; charset=utf-8")
        }
    }

    /// A rule for the next matching request, or for as many as `times` says.
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

/// Names one fault rule of one backend.
public struct FaultID: Sendable, Hashable {
    let number: Int
}
