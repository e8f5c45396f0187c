#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The path of an ``Endpoint``. Interpolated values are data: they cannot lead to another endpoint.
///
/// ```swift
/// var path: RequestPath { "/users/\(name)/posts/\(id)" }
/// ```
///
/// A literal is sent as it is written; only characters that a path must not contain are percent-encoded. A query
/// belongs in ``Endpoint/query``: a literal with a `?` or a `#` fails the call with
/// ``NetworkError/invalidRequest(_:reason:)`` before anything is sent. An interpolated value becomes part of one
/// segment: a `/`, `?`, `#` or `%` in it is encoded. Strings, numbers, UUIDs, enums with raw values and other
/// `LosslessStringConvertible` types can be interpolated. An optional or a ``Secret`` does not compile.
///
/// Encoding does not protect every value. URL parsers and servers resolve `.` and `..` even if they are encoded, and a
/// path with an empty segment may name another endpoint. A call whose values would make such a segment fails with
/// ``NetworkError/invalidRequest(_:reason:)`` before anything is sent.
///
/// Use ``absolute(_:)-(String)`` for a URL that the server has sent.
public struct RequestPath: Sendable, Hashable {
    /// The encoded path, or an absolute URL.
    package let text: String
    let isAbsolute: Bool
    /// The reason why no request can have this path.
    let problem: InvalidRequestError?

    private init(text: String, isAbsolute: Bool = false, problem: InvalidRequestError? = nil) {
        self.text = text
        self.isAbsolute = isAbsolute
        self.problem = problem
    }

    /// An absolute URL, such as a link in a response. It is used unchanged, except that characters that no URL may
    /// contain are percent-encoded.
    ///
    /// For a URL that you assemble yourself, use ``absolute(_:below:)``, which encodes values.
    public static func absolute(_ url: String) -> RequestPath {
        RequestPath(text: url, isAbsolute: true)
    }

    /// An absolute URL. It is used unchanged.
    public static func absolute(_ url: URL) -> RequestPath {
        absolute(url.absoluteString)
    }

    /// A path below a base URL other than the client's:
    /// `.absolute("/files/\(name)", below: "https://cdn.example.com")`.
    public static func absolute(_ path: RequestPath, below base: BaseURL) -> RequestPath {
        do {
            let location = try base.location.get().appending(path, query: [:])
            return absolute("\(location.origin)\(location.target)")
        } catch {
            return RequestPath(text: path.text, problem: error)
        }
    }

    /// A URL that another library, such as a generated client, has assembled from user input. It is used unchanged if
    /// it is below a base URL.
    ///
    /// If it has another origin, is not below the path of the base URL, or has `.` or `..` segments, the call fails
    /// with ``NetworkError/invalidRequest(_:reason:)`` before anything is sent.
    public static func absolute(_ url: String, within base: BaseURL) -> RequestPath {
        do {
            try Location.parse(url).get().check(isWithin: base.location.get())
            return absolute(url)
        } catch {
            return RequestPath(text: url, isAbsolute: true, problem: error)
        }
    }

    /// A path or an absolute URL from the app's settings, such as the path of a token endpoint.
    package init(setting text: String) {
        if Location.isAbsolute(text) {
            self.init(text: text, isAbsolute: true)
        } else {
            self.init(stringLiteral: text)
        }
    }
}

extension RequestPath: ExpressibleByStringInterpolation {
    /// Creates a path from a literal.
    public init(stringLiteral value: String) {
        var parts = StringInterpolation(literalCapacity: value.utf8.count, interpolationCount: 0)
        parts.appendLiteral(value)
        self.init(stringInterpolation: parts)
    }

    /// Creates a path from a literal with interpolated values.
    public init(stringInterpolation parts: StringInterpolation) {
        var problem: InvalidRequestError?
        if parts.hasEmptySegment || parts.segmentLacksValue {
            problem = InvalidRequestError(
                "An interpolated value of the path \"\(Redaction.redactURL(parts.text))\" is empty, so the path names another endpoint. "
                    + "Check the value before the call.")
        } else if Location.isAbsolute(parts.text) {
            problem = InvalidRequestError(
                "The path \"\(Redaction.redactURL(parts.text))\" is an absolute URL. Write .absolute(…) for a URL that is not below the base URL."
            )
        } else if parts.hasQuery {
            problem = InvalidRequestError(
                "The path \"\(Redaction.redactURL(parts.text))\" has a \"?\" or a \"#\" in its literal, which would be sent as part of a name. "
                    + "Put a query into the endpoint's query; interpolate a name that contains one.")
        }
        self.init(text: parts.text, problem: problem)
    }

    /// Encodes the parts of a path.
    public struct StringInterpolation: StringInterpolationProtocol {
        // Each part is encoded by itself, so that a literal `%` and a value cannot form an escape together.
        fileprivate var text = ""
        fileprivate var hasEmptySegment = false
        /// Whether the literal has a mark that begins a query or a fragment in a URL.
        fileprivate var hasQuery = false
        private var segmentHasValue = false
        private var segmentIsEmpty = true

        /// Whether the last segment consists of empty values.
        fileprivate var segmentLacksValue: Bool { segmentHasValue && segmentIsEmpty }

        /// Creates an empty interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 8)
        }

        /// Adds a part of the literal.
        public mutating func appendLiteral(_ literal: String) {
            for byte in literal.utf8 {
                if byte == UInt8(ascii: "/") {
                    hasEmptySegment = hasEmptySegment || segmentLacksValue
                    segmentHasValue = false
                    segmentIsEmpty = true
                } else {
                    segmentIsEmpty = false
                    hasQuery = hasQuery || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
                }
            }
            text += PercentEncoding.encodePath(literal)
        }

        /// Adds a value to the segment.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            append(value.description)
        }

        /// Adds a UUID to the segment.
        public mutating func appendInterpolation(_ value: UUID) {
            append(value.uuidString)
        }

        /// Adds the raw value of an enum, or of another type with a raw value, to the segment.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            append(value.rawValue.description)
        }

        /// Adds the raw value of a type that is also `LosslessStringConvertible`.
        public mutating func appendInterpolation<Value: RawRepresentable & LosslessStringConvertible>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible {
            append(value.rawValue.description)
        }

        /// Adds text as a literal would add it: it may have several segments, and its percent escapes are kept. A `?`
        /// or `#` in it is encoded. Use it for a path that the app knows or the server has sent, never for user input.
        public mutating func appendInterpolation(raw text: String) {
            let hasQuery = hasQuery
            appendLiteral(text)
            self.hasQuery = hasQuery
        }

        /// Does not compile: logs of servers and proxies contain the paths of requests.
        @available(*, unavailable, message: "a path is logged; send a secret in a header field or in the body")
        public mutating func appendInterpolation(_ secret: Secret) {}

        private mutating func append(_ value: String) {
            segmentHasValue = true
            segmentIsEmpty = segmentIsEmpty && value.isEmpty
            text += PercentEncoding.encode(value, allowing: PercentEncoding.isUnreserved)
        }
    }
}

extension RequestPath: CustomStringConvertible {
    /// The encoded path or the URL, with secrets masked.
    public var description: String { Redaction.redactURL(text) }
}
