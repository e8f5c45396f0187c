/// A response that could not be decoded as the requested type.
public struct ResponseDecodingError: Error, Sendable, Hashable {
    /// The requested type.
    public let type: String
    /// Where in the response decoding failed, such as `articles[3].createdAt`; empty for the response as a whole.
    public let codingPath: String
    /// Why decoding failed.
    public let reason: String
    /// The response.
    public let response: ServerResponse

    package init(type: String, codingPath: String, reason: String, response: ServerResponse) {
        self.type = type
        self.codingPath = codingPath
        self.reason = reason
        self.response = response
    }
}

extension ResponseDecodingError: CustomReflectable {
    /// Masks secrets, because decoders quote values that they cannot decode.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "type": type, "codingPath": Redaction.redact(codingPath), "reason": Redaction.redact(reason),
                "response": response,
            ], displayStyle: .struct)
    }
}

extension ResponseDecodingError: CustomStringConvertible {
    /// The requested type, where decoding failed and why, with a redacted excerpt of the response.
    public var description: String {
        // The path may contain names that the server has chosen.
        let path = codingPath.isEmpty ? " at the top level" : " at \(Redaction.redact(codingPath))"
        let excerpt = Redaction.excerpt(of: response.body)
        return "the response (\(response.status)) is not a valid \(type): \(Redaction.redact(reason))\(path)."
            + (excerpt.isEmpty ? " Its body is empty." : " Its body starts with: \(excerpt)")
    }
}
