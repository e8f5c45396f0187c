/// Describes a call in errors and logs.
public struct CallDescription: Sendable, Hashable, CustomStringConvertible {
    /// The method, such as `GET`.
    public let method: String
    /// The origin and path, without the query.
    public let url: String
    /// How many times the request was sent.
    public let attempts: Int

    /// The description of a call, for a custom ``APIClient`` that throws ``NetworkError``.
    public init(method: String, url: String, attempts: Int) {
        self.method = method
        self.url = url
        self.attempts = attempts
    }

    /// Method and URL, such as `GET https://api.example.com/articles`.
    public var description: String { "\(method) \(url)" }
}
