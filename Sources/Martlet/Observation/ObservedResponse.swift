public import HTTPTypes

/// A response as a ``NetworkObserver`` sees it.
public struct ObservedResponse: Sendable, Hashable {
    /// The status and the header fields, with secrets masked.
    public let head: HTTPResponse
    /// The number of body bytes read; zero for a response that is streamed.
    public let bytes: Int
    /// Whether the body is still to be read by the caller.
    let isStream: Bool
    private let body: ObservedBody

    /// - Parameters:
    ///   - bytes: The number of bytes read, in memory or by a download.
    ///   - isStream: Whether the body is still to be read by the caller.
    init(_ response: ServerResponse, bytes: Int, isStream: Bool = false) {
        var head = response.head
        head.headerFields = head.headerFields.redacted
        let reason = Redaction.redact(head.status.reasonPhrase)
        head.status = HTTPResponse.Status(code: head.status.code, reasonPhrase: reason)
        self.head = head
        self.bytes = bytes
        self.isStream = isStream
        body = ObservedBody(
            contentType: response.headers[.contentType], length: Int64(response.body.count), bytes: response.body)
    }

    /// The status code.
    public var status: Int { head.status.code }

    /// The body as text, with secrets masked.
    /// - Parameter limit: The largest body to return, in bytes.
    /// - Returns: `nil` if the body is longer or not text. Empty for a download or a stream, which consumes its body.
    public func bodyText(limit: Int = 4096) -> String? {
        body.text(limit: limit)
    }
}
