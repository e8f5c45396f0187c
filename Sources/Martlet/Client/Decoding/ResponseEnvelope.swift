#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The envelope that a server puts around its responses, described by its field names.
///
/// By default it is
/// `{ "success": true, "code": "OK", "message": "…", "data": …, "errors": [], "meta": { "requestId": "…" } }`. A typed
/// call decodes the value of `data`. If `success` is `false`, or the status is not acceptable, the call fails with
/// ``NetworkError/api(_:_:)``.
public struct ResponseEnvelope: Sendable, Hashable {
    var success: String
    var code: String
    var message: String
    var data: String
    var errors: String
    var meta: String
    var requestID: String

    /// Creates an envelope. An omitted argument keeps the usual name.
    /// - Parameters:
    ///   - success: The field that says whether the request succeeded.
    ///   - code: The field with the server's code for the result.
    ///   - message: The field with a human-readable message.
    ///   - data: The field with the value.
    ///   - errors: The field with the validation errors: texts, objects with `field` and `message`, or an object with
    ///     the messages of each field.
    ///   - meta: The object that contains `requestID`.
    ///   - requestID: The field with the server's identifier for the request, within `meta`.
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

    /// The envelope of the body that the current task decodes. It is task-local, so that it reaches ``Enveloped``
    /// through any decoder.
    @TaskLocal static var decoding = ResponseEnvelope()

    func reportsFailure(_ response: ServerResponse) -> Bool {
        JSONValue(body: response.body)?[success] == .bool(false)
    }

    /// Whether a response may say that a call succeeded whose result does not matter: it reports no failure, and is
    /// neither a page, such as that of a network's login, nor half of an object or array.
    func mayBeSuccess(_ response: ServerResponse) -> Bool {
        guard let json = JSONValue(body: response.body) else {
            // Text may begin with a byte order mark.
            let first = response.body.first { !"\u{FEFF} \t\r\n".utf8.contains($0) }
            return first.map { !"<{[".utf8.contains($0) } ?? true
        }
        return json[success] != .bool(false)
    }

    /// The server's error; `nil` if the response is not an envelope.
    func error(in response: ServerResponse) -> APIError? {
        guard let json = JSONValue(body: response.body), json[success] != nil || json[code] != nil else { return nil }
        var error = APIError(
            code: json[code]?.text, message: json[message]?.string ?? "",
            errors: APIError.FieldError.list(in: json[errors]),
            requestID: json[meta]?[requestID]?.text, response: response)
        error.meta = ResponseMeta(json[meta], requestIDField: requestID)
        return error
    }
}

/// An envelope and its value, decoded in one pass.
struct Enveloped<Value: Decodable>: Decodable {
    let isSuccess: Bool?
    let value: Value?

    /// A field name of the envelope.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }

        /// The key of a field. A decoder with `convertFromSnakeCase` has renamed those with an underscore.
        init(_ name: String, in container: KeyedDecodingContainer<Name>) {
            self.init(stringValue: name)
            guard name.contains("_"), !container.contains(self) else { return }
            let words = name.split(separator: "_")
            let renamed =
                words.prefix(1).map { $0.lowercased() }
                + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
            let key = Name(stringValue: renamed.joined())
            if container.contains(key) { self = key }
        }
    }

    init(from decoder: any Decoder) throws {
        let envelope = ResponseEnvelope.decoding
        let container = try decoder.container(keyedBy: Name.self)
        isSuccess = try container.decodeIfPresent(Bool.self, forKey: Name(envelope.success, in: container))
        let data = Name(envelope.data, in: container)
        if isSuccess == false {
            value = nil
            return
        }
        let hasData = try container.contains(data) && !container.decodeNil(forKey: data)
        if !hasData, let empty = (Value.self as? any EmptyBodyRepresentable.Type)?.empty as? Value {
            value = empty
        } else {
            value = try container.decode(Value.self, forKey: data)
        }
    }
}

/// The envelope of a response. Its fields are read on demand, so that calls that ignore them pay nothing.
struct EnvelopeReading: Sendable {
    let envelope: ResponseEnvelope
    let body: Data
    let decoder: any ResponseDecoder

    private var json: JSONValue? { JSONValue(body: body) }

    var code: String? { json?[envelope.code]?.text }
    var message: String? { json?[envelope.message]?.string }
    var meta: ResponseMeta? { ResponseMeta(json?[envelope.meta], requestIDField: envelope.requestID) }

    func meta<Meta: Decodable>(as type: Meta.Type) throws -> Meta {
        var envelope = envelope
        envelope.data = envelope.meta
        let found = try ResponseEnvelope.$decoding.withValue(envelope) {
            try decoder.decode(Enveloped<Meta>.self, from: body)
        }
        guard let meta = found.value else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: [], debugDescription: "the envelope has no \(envelope.meta)"))
        }
        return meta
    }
}
