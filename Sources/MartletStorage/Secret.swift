/// A string that is not printed by accident: a token, or the value of a cookie.
///
/// Descriptions, `dump`, string interpolation and mirrors show `<redacted>`. Only ``reveal()`` returns the text, which
/// makes every use easy to find in a review.
///
/// ```swift
/// let token: Secret = "eyJhbGciOi…"
/// print(token)            // <redacted>
/// socket.send(token.reveal())
/// ```
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Creates a secret from text.
    public init(_ text: String) {
        self.text = text
    }

    /// The text. Send it only to the server that issued it.
    public func reveal() -> String {
        text
    }

    package var isEmpty: Bool {
        text.isEmpty
    }

    /// The secret without leading and trailing white space, such as the newline at the end of a file.
    package var trimmed: Secret {
        let blanks = " \t\r\n".utf8
        guard let first = text.utf8.first, let last = text.utf8.last, blanks.contains(first) || blanks.contains(last)
        else { return self }
        let rest = text.utf8.drop { blanks.contains($0) }
        let count = rest.reversed().drop { blanks.contains($0) }.count
        return Secret(String(Substring(rest.prefix(count))))
    }
}

extension Secret: ExpressibleByStringLiteral {
    /// Creates a secret from a literal; meant for tests.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension Secret: CustomStringConvertible, CustomReflectable {
    /// Always `<redacted>`.
    public var description: String { "<redacted>" }

    /// A mirror without children, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret: Codable {
    /// Decodes the plain text. Encode records with secrets only for a ``TokenStore``.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the plain text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
