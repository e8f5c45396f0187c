#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a server wraps every answer in, by the names of its fields.
///
/// ``standard`` is
/// `{ "success": true, "code": "OK", "message": "…", "data": …, "errors": [], "meta": { "requestId": "…" } }`. A typed
/// call decodes what is within `data`; `success: false`, or a refused status, becomes ``NetworkError/api(_:_:)``.
public struct ResponseEnvelope: Sendable, Hashable {
    /// Whether it went well.
    public var success: String
    /// The server's code for what happened.
    public var code: String
    /// A message for people.
    public var message: String
    /// What was asked for.
    public var data: String
    /// The fields that were refused: texts, or objects with `field` and `message`.
    public var errors: String
    /// The object that holds ``requestID``.
    public var meta: String
    /// The server's name for the request, within ``meta``.
    public var requestID: String

    /// An envelope with names of its own; what is left out is called as in ``standard``.
    public init(
        success: String = "success", code: String = "code", message: String = "message", data: String = "data",
        errors: String = "errors", meta: String = "meta", requestID: String = "requestId"
    ) {
        self.success = success
        self.code = code
        self.message = message
        self.data = data
        self.errors = errors
        self.meta = meta
        self.requestID = requestID
    }

    /// The usual names.
    public static let standard = ResponseEnvelope()

    /// Whether the answer says that it went wrong.
    func isRefusal(_ answer: ServerAnswer) -> Bool {
        JSONValue(body: answer.body)?[success] == .bool(false)
    }

    /// The refusal that the answer explains, if it is an envelope at all.
    func refusal(in answer: ServerAnswer) -> APIError? {
        guard let json = JSONValue(body: answer.body), json[success] != nil || json[code] != nil else { return nil }
        return APIError(
            code: json[code]?.string, message: json[message]?.string ?? "",
            errors: (json[errors]?.array ?? []).compactMap(APIError.FieldError.init),
            requestID: json[meta]?[requestID]?.string, answer: answer)
    }
}

extension APIError.FieldError {
    /// Reads the forms that servers use: a text, or an object with a name and a message.
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
    /// A problem document (RFC 9457), if the answer is one.
    init?(problemIn answer: ServerAnswer) {
        let type = answer.headers[.contentType]?.lowercased() ?? ""
        guard type.hasPrefix("application/problem+json"), let json = JSONValue(body: answer.body) else { return nil }
        let requestID = ["requestId", "request_id", "traceId", "instance"].lazy.compactMap { json[$0]?.string }.first
        self.init(
            code: json["code"]?.string ?? json["type"]?.string,
            message: json["detail"]?.string ?? json["title"]?.string ?? "",
            errors: (json["errors"]?.array ?? []).compactMap(FieldError.init), requestID: requestID, answer: answer)
    }
}

/// The envelope around a value, decoded in one pass.
struct Enveloped<Value: Decodable>: Decodable {
    /// Which envelope it is; set in the decoder's `userInfo`.
    static var key: CodingUserInfoKey? { CodingUserInfoKey(rawValue: "martlet.envelope") }

    let isSuccess: Bool?
    let value: Value?

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let envelope = Self.key.flatMap { decoder.userInfo[$0] as? ResponseEnvelope } ?? .standard
        let container = try decoder.container(keyedBy: Name.self)
        isSuccess = try container.decodeIfPresent(Bool.self, forKey: Name(stringValue: envelope.success))
        let data = Name(stringValue: envelope.data)
        if isSuccess == false {
            value = nil
            return
        }
        let hasData = try container.contains(data) && !container.decodeNil(forKey: data)
        if !hasData, let empty = (Value.self as? any EmptyRepresentable.Type)?.empty as? Value {
            value = empty
        } else {
            value = try container.decode(Value.self, forKey: data)
        }
    }
}
