/// Selects requests: `"GET /me"`, `"/articles/*"` for any method, or `"*"` for all.
public struct RequestPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method; `nil` matches any.
    public var method: String?
    /// The exact path, or a prefix followed by `*`. The query is ignored.
    public var path: String

    /// Creates a pattern.
    public init(method: String? = nil, path: String) {
        self.method = method
        self.path = path
    }

    /// Parses `METHOD /path` or `/path`.
    public init(_ text: String) {
        let halves = text.split(separator: " ", maxSplits: 1)
        if halves.count == 2 {
            self.init(method: String(halves[0]), path: String(halves[1]))
        } else {
            self.init(path: text)
        }
    }

    /// Parses `METHOD /path` or `/path`.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// `METHOD /path` or `/path`.
    public var description: String {
        method.map { "\($0) \(path)" } ?? path
    }

    /// Whether the pattern selects a request. Paths under `/_control/` need a pattern that starts with it, so that a
    /// pattern for everything does not disable the controls.
    func matches(method: String, path: String) -> Bool {
        if let wanted = self.method, wanted != method { return false }
        if path.hasPrefix("/_control/"), !self.path.hasPrefix("/_control/") { return false }
        return self.path.last == "*" ? path.hasPrefix(self.path.dropLast()) : path == self.path
    }
}
