/// A string that must not be seen: a token, a cookie's value.
///
/// It cannot print itself. Descriptions, `dump`, string interpolation and mirrors all show `<redacted>`; the text is
/// only to be had by asking for it with ``reveal()``, which is easy to find in a review.
///
/// ```swift
/// let token: Secret = "eyJhbGciOi…"
/// print(token)            // <redacted>
/// socket.send(token.reveal())
/// ```
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Wraps a text that must not be seen.
    public init(_ text: String) {
        self.text = text
    }

    /// The text itself. Hand it to the server that issued it, to nothing else.
    public func reveal() -> String {
        text
    }

    /// Whether there is nothing to hide.
    public var isEmpty: Bool {
        text.isEmpty
    }
}

extension Secret: ExpressibleByStringLiteral {
    /// Wraps a literal; meant for tests.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }

    /// Always `<redacted>`.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret: Codable {
    /// Decodes the plain string. A record that holds secrets is encoded for a ``TokenStore`` and for nothing else.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the plain string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
