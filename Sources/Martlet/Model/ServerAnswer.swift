public import HTTPTypes

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An answer of the server as it came, kept in an error.
///
/// Its description shows the status and a redacted excerpt of the body; `dump` shows no more than that.
public struct ServerAnswer: Sendable, Hashable {
    /// Status and header fields.
    public let head: HTTPResponse
    /// The body, whole.
    public let body: Data

    /// An answer of the server.
    public init(head: HTTPResponse, body: Data) {
        self.head = head
        self.body = body
    }

    /// The status code.
    public var status: Int { head.status.code }

    /// The header fields.
    public var headers: HTTPFields { head.headerFields }
}

extension ServerAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `404 Not Found: {"message":"no such article"}`, with secrets masked.
    public var description: String {
        let reason = head.status.reasonPhrase.isEmpty ? "" : " " + head.status.reasonPhrase
        let excerpt = Redaction.excerpt(of: body)
        return "\(status)\(reason)" + (excerpt.isEmpty ? "" : ": \(excerpt)")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Status and size only: header fields and body may hold secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["status": status, "bodyBytes": body.count], displayStyle: .struct)
    }
}

/// A refusal that the server explained, by an envelope or a problem document.
public struct APIError: Error, Sendable, Hashable {
    /// One field that was refused.
    public struct FieldError: Sendable, Hashable, Codable {
        /// The field, where the server names one.
        public var field: String?
        /// What is wrong with it.
        public var message: String

        /// One field that was refused.
        public init(field: String? = nil, message: String) {
            self.field = field
            self.message = message
        }
    }

    /// The server's code for it: the envelope's `code`, or the problem's `type`.
    public var code: String?
    /// The server's message: the envelope's `message`, or the problem's `detail` or `title`.
    public var message: String
    /// The fields that were refused.
    public var errors: [FieldError]
    /// The server's name for this request, to be quoted to whoever runs the server.
    public var requestID: String?
    /// The answer as it came.
    public var answer: ServerAnswer

    /// A refusal that the server explained.
    public init(
        code: String?, message: String, errors: [FieldError] = [], requestID: String? = nil, answer: ServerAnswer
    ) {
        self.code = code
        self.message = message
        self.errors = errors
        self.requestID = requestID
        self.answer = answer
    }

    /// The status code.
    public var status: Int { answer.status }
}

extension APIError.FieldError: CustomStringConvertible, CustomReflectable {
    /// `name: at most 40 characters`, with secrets masked.
    public var description: String { Redaction.redact((field.map { "\($0): " } ?? "") + message) }

    /// The description only: a server may quote what it was sent.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}

extension APIError: CustomReflectable {
    /// The description and the answer only: a server may quote what it was sent.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "answer": answer], displayStyle: .struct)
    }
}

extension APIError: CustomStringConvertible {
    /// `422 INVALID_NAME: The name is too long (name: at most 40 characters) [request 7f3a]`.
    public var description: String {
        var text = "\(status) " + (code.map { "\($0): " } ?? "") + message
        if !errors.isEmpty {
            text += " (" + errors.map { ($0.field.map { "\($0): " } ?? "") + $0.message }.joined(separator: "; ") + ")"
        }
        // The request's id is there to be quoted, and would look like a token.
        return Redaction.redact(text) + (requestID.map { " [request \($0)]" } ?? "")
    }
}

/// An answer that does not decode into what the caller asked for.
public struct DecodingFailure: Error, Sendable, Hashable {
    /// The type that was asked for.
    public let type: String
    /// Where in the answer it went wrong, such as `articles[3].createdAt`; empty for the answer as a whole.
    public let codingPath: String
    /// What was wrong there.
    public let reason: String
    /// The answer as it came.
    public let answer: ServerAnswer

    /// An answer that does not decode.
    public init(type: String, codingPath: String, reason: String, answer: ServerAnswer) {
        self.type = type
        self.codingPath = codingPath
        self.reason = reason
        self.answer = answer
    }
}

extension DecodingFailure: CustomReflectable {
    /// With secrets masked: decoders quote what they cannot read.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "type": type, "codingPath": codingPath, "reason": Redaction.redact(reason), "answer": answer,
            ], displayStyle: .struct)
    }
}

extension DecodingFailure: CustomStringConvertible {
    /// What was asked for, where it failed and why, with a redacted excerpt.
    public var description: String {
        let place = codingPath.isEmpty ? " at the top" : " at \(codingPath)"
        let excerpt = Redaction.excerpt(of: answer.body)
        return "the answer (\(answer.status)) is no \(type): \(Redaction.redact(reason))\(place)."
            + (excerpt.isEmpty ? " It is empty." : " It says: \(excerpt)")
    }
}
