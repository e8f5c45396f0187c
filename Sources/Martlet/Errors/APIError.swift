#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An error that the server explained in its response: in an envelope, in a problem document (RFC 9457), or in the
/// app's own format (``NetworkConfig/errorBody``).
public struct APIError: Error, Sendable, Hashable {
    /// An error in one field of the request.
    public struct FieldError: Sendable, Hashable, Codable {
        /// The field, if the server names one.
        public var field: String?
        /// A message that says what is wrong with the field.
        public var message: String

        /// An error in one field.
        public init(field: String? = nil, message: String) {
            self.field = field
            self.message = message
        }
    }

    /// The server's error code: the envelope's `code`, or the problem's `code` or `type`.
    public var code: String?
    /// The server's message: the envelope's `message`, or the problem's `detail` or `title`.
    public var message: String
    /// The errors in individual fields.
    public var errors: [FieldError]
    /// The server's ID for the request, to quote when you report a problem.
    public var requestID: String?
    /// The server's metadata about its response, from the envelope's `meta`: the time, the path, and how long the work
    /// took.
    public var meta: ResponseMeta?
    /// The body decoded as ``NetworkConfig/errorBody``, if that is set and decoding succeeds. See ``body(as:)``.
    public var body: (any Sendable)? {
        get { content.value }
        set { content.value = newValue }
    }
    /// The response.
    public var response: ServerResponse
    private var content = Content()

    /// The decoded body. Always compares equal: comparing the response is enough.
    private struct Content: Sendable, Hashable {
        var value: (any Sendable)?
        static func == (left: Content, right: Content) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// An error that the server explained.
    public init(
        code: String?, message: String, errors: [FieldError] = [], requestID: String? = nil, response: ServerResponse
    ) {
        self.code = code
        self.message = message
        self.errors = errors
        self.requestID = requestID
        self.response = response
    }

    /// The status code.
    public var status: Int { response.status }

    /// The body as a type of the app, if it is declared in ``NetworkConfig/errorBody``.
    ///
    /// ```swift
    /// } catch .api(_, let error) {
    ///     show(error.body(as: Problem.self)?.hint ?? error.message)
    /// }
    /// ```
    public func body<Body>(as type: Body.Type) -> Body? {
        content.value as? Body
    }
}

extension APIError.FieldError: CustomStringConvertible, CustomReflectable {
    /// The field and the message with secrets masked, such as `name: at most 40 characters`. The message about a field
    /// such as `password` is masked as a whole, because a server may quote the value; ``message`` contains it.
    public var description: String {
        guard let field else { return Redaction.redact(message).onOneLine }
        let names = [field[...]] + field.split { "/.#[]() ".contains($0) }
        let isSecret = names.contains { Redaction.kind(named: String($0)) != nil }
        return (isSecret ? "\(Redaction.redact(field)): \(Redaction.mask)" : Redaction.redact("\(field): \(message)"))
            .onOneLine
    }

    /// Shows only the redacted description, because a server may quote what the request sent.
    public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}

extension APIError: CustomReflectable {
    /// Shows only the redacted description and the response, because a server may quote what the request sent.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "response": response], displayStyle: .struct)
    }
}

extension APIError {
    /// Not masked although it may look like a token: a request ID is meant to be quoted. The `instance` of a problem
    /// document is a URL (RFC 9457, section 3.1.5).
    private static func shown(_ requestID: String) -> String {
        requestID.utf8.contains(UInt8(ascii: "/"))
            ? Redaction.redactURL(requestID) : Redaction.redactFieldValue(requestID)
    }
}

extension APIError: CustomStringConvertible {
    /// The error with secrets masked, such as
    /// `422 INVALID_NAME: The name is too long (name: at most 40 characters) [request 7f3a]`.
    public var description: String {
        var text = "\(status) " + (code.map { "\(Redaction.redact($0)): " } ?? "") + Redaction.redact(message)
        if !errors.isEmpty { text += " (" + errors.map(\.description).joined(separator: "; ") + ")" }
        return (text + (requestID.map { " [request \(Self.shown($0))]" } ?? "")).onOneLine
    }
}
