#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension APIError.FieldError {
    /// Reads a text, or an object with a name and a message.
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
        let requestID = ["requestId", "request_id", "traceId", "instance"].lazy.compactMap { json[$0]?.string }.first
        self.init(
            code: json["code"]?.string ?? json["type"]?.string,
            message: json["detail"]?.string ?? json["title"]?.string ?? "",
            errors: (json["errors"]?.array ?? []).compactMap(FieldError.init), requestID: requestID, response: response)
    }
}
