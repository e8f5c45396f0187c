#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension APIError.FieldError {
    /// Reads the errors of a response: a list of texts or objects, or an object with the messages of each field.
    static func list(in json: JSONValue?) -> [APIError.FieldError] {
        switch json {
        case .array(let errors): errors.compactMap(Self.init)
        // A decoded object has no order.
        case .object(let fields): fields.sorted { $0.key < $1.key }.flatMap { of($0.key, in: $0.value) }
        default: []
        }
    }

    /// Reads a message, or a list of messages, of one field.
    private static func of(_ field: String, in json: JSONValue) -> [APIError.FieldError] {
        (json.array ?? [json]).compactMap(Self.init).map { error in
            APIError.FieldError(field: error.field ?? field, message: error.message)
        }
    }

    /// Reads a string, or an object with a name and a message.
    init?(_ json: JSONValue) {
        if let text = json.string {
            self.init(message: text)
            return
        }
        let names = ["field", "name", "pointer", "path", "property"]
        let messages = ["message", "detail", "reason", "description"]
        guard let message = messages.lazy.compactMap({ json[$0]?.string }).first else { return nil }
        self.init(field: names.lazy.compactMap { json[$0]?.string }.first, message: message)
    }
}

extension APIError {
    /// A problem document (RFC 9457), if the response is one.
    init?(problemIn response: ServerResponse) {
        let type = response.headers[.contentType]?.lowercased() ?? ""
        guard type.hasPrefix("application/problem+json"), let json = JSONValue(body: response.body) else { return nil }
        let requestID = ["requestId", "request_id", "traceId", "instance"].lazy.compactMap { json[$0]?.text }.first
        self.init(
            code: json["code"]?.text ?? json["type"]?.string,
            message: json["detail"]?.string ?? json["title"]?.string ?? "",
            errors: FieldError.list(in: json["errors"]), requestID: requestID, response: response)
    }
}
