#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The body of a request for observers, which see its text only with secrets masked.
struct ObservedBody: Sendable, Hashable {
    let contentType: String?
    /// The number of bytes; `nil` if it is unknown.
    let length: Int64?
    /// The bytes, if they are in memory.
    private let bytes: Data?

    init(contentType: String?, length: Int64?, bytes: Data?) {
        self.contentType = contentType
        self.length = length
        self.bytes = bytes
    }

    /// - Returns: `nil` if the body is longer than `limit` bytes, is not text, or is streamed.
    func text(limit: Int = 4096) -> String? {
        guard let bytes, bytes.count <= limit else { return nil }
        return Redaction.redactBody(bytes, contentType: contentType)
    }
}

extension ObservedBody: CustomStringConvertible, CustomReflectable {
    /// `application/json, 27 bytes`.
    var description: String {
        (contentType ?? "no type") + ", " + (length.map { "\($0) bytes" } ?? "of unknown length")
    }

    /// Type and length only: the bytes may hold secrets.
    var customMirror: Mirror {
        Mirror(self, children: ["contentType": contentType as Any, "length": length as Any], displayStyle: .struct)
    }
}
