public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A complete response of the server, for interceptors, refreshers and errors.
///
/// Its description shows the status and a redacted excerpt of the body; `dump` shows only the status and the size.
public struct ServerResponse: Sendable, Hashable {
    /// Status and header fields.
    public let head: HTTPResponse
    /// The complete body.
    public let body: Data

    /// Creates a response.
    public init(head: HTTPResponse, body: Data) {
        self.head = head
        self.body = body
    }

    /// The status code.
    public var status: Int { head.status.code }

    /// The header fields.
    public var headers: HTTPFields { head.headerFields }
}

extension ServerResponse: CustomStringConvertible, CustomReflectable {
    /// `404 Not Found: {"message":"no such article"}`, with secrets masked.
    public var description: String {
        let phrase = head.status.reasonPhrase
        let reason = phrase.isEmpty ? "" : " " + Redaction.redact(phrase)
        let excerpt = Redaction.excerpt(of: body)
        return "\(status)\(reason)" + (excerpt.isEmpty ? "" : ": \(excerpt)")
    }

    /// Status and size only: header fields and body may hold secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["status": status, "bodyBytes": body.count], displayStyle: .struct)
    }
}
