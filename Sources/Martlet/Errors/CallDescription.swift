internal import HTTPTypes

/// Describes a call in errors and logs.
public struct CallDescription: Sendable, Hashable, CustomStringConvertible {
    /// The method, such as `GET`.
    public let method: String
    /// The origin and path, without the query and with secrets masked. Only the path if the call failed before its URL
    /// was built.
    public let url: String
    /// The number of times the request was sent.
    public let attempts: Int
    /// Whether another call can safely repeat this one: its last attempt carried a key of ``IdempotencyKeys`` that the
    /// app has chosen.
    var hasIdempotencyKey = false
    /// Whether the call returns a stream as soon as the head of the response has arrived.
    var awaitsHead = false

    /// The description of a call, for a custom ``APIClient`` that throws ``NetworkError``. Secrets in the URL are
    /// masked.
    public init(method: String, url: String, attempts: Int) {
        self.method = method
        self.url = Redaction.redactURL(url)
        self.attempts = attempts
    }

    init(method: String, location: Location, attempts: Int) {
        self.method = method
        self.url = location.redactedText
        self.attempts = attempts
    }

    /// The description of a call that failed before it was sent.
    package init(unsent endpoint: any Endpoint) {
        self.init(endpoint, attempts: 0)
    }

    /// The description of a call whose URL is not known.
    init(_ endpoint: any Endpoint, attempts: Int) {
        let path = endpoint.path.text.prefix { $0 != "?" && $0 != "#" }
        self.init(method: endpoint.method.rawValue, url: String(path), attempts: attempts)
    }

    /// Whether sending the request twice has the same effect as sending it once, by its method (RFC 9110,
    /// section 9.2.2) or its key.
    var isIdempotent: Bool {
        hasIdempotencyKey || HTTPRequest.Method(method)?.isIdempotent == true
    }

    /// Whether the server may have carried out the request although it responded with an error, and would carry it out
    /// again.
    func isInDoubt(after status: Int) -> Bool { [500, 502, 504].contains(status) && !isIdempotent }

    /// Method and URL, such as `GET https://api.example.com/articles`.
    public var description: String { "\(method) \(url)" }
}
