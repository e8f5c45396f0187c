/// A response that could not be decoded as the requested type.
public struct ResponseDecodingError: Error, Sendable, Hashable {
    /// The requested type.
    public let type: String
    /// The place in the response where decoding failed, such as `articles[3].createdAt`; empty for the response as a
    /// whole.
    public let codingPath: String
    /// The reason why decoding failed.
    public internal(set) var reason: String
    /// The response.
    public let response: ServerResponse

    /// Whether the body has a content coding that the transport has not decoded.
    private let isEncoded: Bool

    package init(type: String, codingPath: String, reason: String, response: ServerResponse) {
        self.type = type
        self.codingPath = codingPath
        self.reason = reason
        self.response = response
        self.isEncoded = false
    }

    /// The error for a body with a content coding that the transport has not decoded.
    init(type: String, unsupportedReason: String, response: ServerResponse) {
        self.type = type
        self.codingPath = ""
        self.reason = unsupportedReason
        self.response = response
        self.isEncoded = true
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
        guard !isEncoded else { return summary }
        let excerpt = Redaction.excerpt(of: response.body)
        return (summary + (excerpt.isEmpty ? " Its body is empty." : " Its body starts with: \(excerpt)")).onOneLine
    }

    /// The description without the excerpt.
    var summary: String {
        guard !isEncoded else {
            return
                "the response (\(response.status)) is not a valid \(type): \(Redaction.redact(reason)). Let the server "
                + "send gzip or no coding, or read the bytes with data(for:) and decode them yourself."
        }
        // The path may contain names that the server has chosen.
        let path = codingPath.isEmpty ? "" : " at \(Redaction.redact(codingPath))"
        // Foundation's reasons are sentences.
        let reason = Redaction.redact(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
        return "the response (\(response.status)) is not a valid \(type): \(reason)\(path)."
    }
}
