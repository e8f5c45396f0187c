#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The body of a request as an observer sees it: what it is, and its text with secrets masked.
public struct ObservedBody: Sendable, Hashable {
    /// The media type, where it has one.
    public let contentType: String?
    /// How many bytes it has; `nil` where nobody knows.
    public let length: Int64?
    /// The bytes, where they are in memory. Nobody is shown them as they are.
    private let bytes: Data?

    init(contentType: String?, length: Int64?, bytes: Data?) {
        self.contentType = contentType
        self.length = length
        self.bytes = bytes
    }

    /// The body as text, with secrets masked.
    /// - Parameter limit: How many bytes it may have.
    /// - Returns: `nil` where it is longer, is no text, or comes as a stream.
    public func text(limit: Int = 4096) -> String? {
        guard let bytes, bytes.count <= limit else { return nil }
        return Redaction.redactBody(bytes, contentType: contentType)
    }
}

extension ObservedBody: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `application/json, 27 bytes`.
    public var description: String {
        (contentType ?? "no type") + ", " + (length.map { "\($0) bytes" } ?? "of unknown length")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Type and length only.
    public var customMirror: Mirror {
        Mirror(self, children: ["contentType": contentType as Any, "length": length as Any], displayStyle: .struct)
    }
}
