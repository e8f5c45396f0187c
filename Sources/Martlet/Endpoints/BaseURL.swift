#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The base URL of an API: `"https://api.example.com/v1"`.
///
/// You can write it as a literal. An invalid URL does not trap: the first call fails with
/// ``NetworkError/invalidRequest(_:reason:)``, which says what is wrong.
public struct BaseURL: Sendable, Hashable, ExpressibleByStringLiteral {
    let text: String
    let location: Result<Location, InvalidRequestError>

    /// Creates a base URL with the scheme `http` or `https`, a host, and a path that all endpoints share, if any.
    public init(_ text: String) {
        self.text = text
        self.location = Location.parse(text).flatMap { location in
            guard location.query == nil else {
                let shown = Redaction.redact(text)
                return .failure(
                    InvalidRequestError("The base URL \"\(shown)\" has a query. Move it to Endpoint.query."))
            }
            guard !Location.hasDotSegments(location.path) else {
                let shown = Redaction.redact(text)
                return .failure(
                    InvalidRequestError("The base URL \"\(shown)\" has . or .. segments. Write the path without them."))
            }
            return .success(location)
        }
    }

    /// Creates a base URL from a `URL`.
    public init(_ url: URL) {
        self.init(url.absoluteString)
    }

    /// Creates a base URL from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The encoded path and query of a request below this URL.
    package func target(of path: RequestPath, query: Query) throws(InvalidRequestError) -> String {
        try location.get().appending(path, query: query).target
    }

    /// The origin, if the URL is valid.
    var origin: Origin? {
        try? location.get().origin
    }
}

extension BaseURL: CustomStringConvertible, CustomReflectable {
    /// The URL as text, with secrets masked.
    public var description: String { Redaction.redact(text) }

    /// A mirror without children, so that a dump shows the description.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
