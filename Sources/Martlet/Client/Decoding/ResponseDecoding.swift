internal import HTTPTypes
internal import MartletJSON

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decodes the body of a response into a value, or into the server's error.
struct ResponseDecoding: Sendable {
    private let decoder: any ResponseDecoder
    private let envelope: ResponseEnvelope?
    private let errorBody: (any (Decodable & Sendable).Type)?

    init(
        decoder: any ResponseDecoder, envelope: ResponseEnvelope?, errorBody: (any (Decodable & Sendable).Type)? = nil
    ) {
        self.decoder = (decoder as? MartletJSONDecoder)?.withDefaultDateStrategy ?? decoder
        self.envelope = envelope
        self.errorBody = errorBody
    }

    /// The envelope of a decoded response, to read the rest of it later.
    func reading(of response: ServerResponse) -> EnvelopeReading? {
        guard let envelope, !response.body.isEmpty else { return nil }
        return EnvelopeReading(envelope: envelope, body: response.body, decoder: decoder)
    }

    /// Decodes a response with an acceptable status.
    func decode<Value: Decodable & Sendable>(
        _ type: Value.Type, from call: CompletedCall
    ) throws(NetworkError) -> Value {
        let response = call.response
        if response.body.isEmpty {
            if let empty = (type as? any EmptyBodyRepresentable.Type)?.empty as? Value { return empty }
            throw .decoding(
                call.call,
                ResponseDecodingError(
                    type: "\(type)", codingPath: "", reason: "there is no JSON value", response: response))
        }
        do {
            guard let envelope else {
                if type == NoContent.self, let empty = NoContent() as? Value { return empty }
                return try decoder.decode(type, from: response.body)
            }
            if type == NoContent.self, let empty = NoContent() as? Value, envelope.mayBeSuccess(response) {
                return empty
            }
            let enveloped = try ResponseEnvelope.$decoding.withValue(envelope) {
                try decoder.decode(Enveloped<Value>.self, from: response.body)
            }
            // A key decoding strategy may have hidden the success field from the decoder, so the body is checked too.
            if let value = enveloped.value, enveloped.isSuccess == true || !envelope.reportsFailure(response) {
                return value
            }
            if let error = serverError(in: response) { throw NetworkError.api(call.call, error) }
            throw NetworkError.unacceptableStatus(call.call, response)
        } catch let error as NetworkError {
            throw error
        } catch {
            var failure = ResponseDecodingError(error, type: "\(type)", response: response)
            if type == String.self || type == Data.self {
                failure.reason += ". Read text and bytes that are not JSON with data(for:)"
            } else if envelope == nil, response.looksEnveloped {
                failure.reason += ". The body looks like an envelope: set NetworkConfig.envelope"
            }
            throw .decoding(call.call, failure)
        }
    }

    /// The server's error from an envelope, a problem document, or a body of the app's own error type.
    private func serverError(in response: ServerResponse) -> APIError? {
        let body = errorBody.flatMap { decode($0, from: response.body) }
        var error = envelope?.error(in: response) ?? APIError(problemIn: response)
        if error == nil, body != nil { error = APIError(code: nil, message: "", response: response) }
        error?.body = body
        return error
    }

    private func decode<Body: Decodable & Sendable>(_ type: Body.Type, from body: Data) -> Body? {
        try? decoder.decode(type, from: body)
    }

    func statusError(for response: ServerResponse, call: CallDescription) -> NetworkError {
        if let error = serverError(in: response) { return .api(call, error) }
        return response.status == 401 ? .unauthorized(call, response) : .unacceptableStatus(call, response)
    }
}

extension ServerResponse {
    /// Whether the body is an object with the outcome of the call beside its value.
    fileprivate var looksEnveloped: Bool {
        guard let json = JSONValue(body: body), json["data"] ?? json["result"] ?? json["error"] != nil else {
            return false
        }
        return ["success", "status", "code", "message", "errors"].contains { json[$0] != nil }
    }

    /// Whether the body begins like HTML or XML.
    fileprivate var isMarkup: Bool {
        let spaces = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        return body.first { !spaces.contains($0) } == UInt8(ascii: "<")
    }
}

extension ResponseDecodingError {
    /// Takes the coding path and the reason from the decoder's error, or names the content coding that the decoder
    /// could not read.
    init(_ error: any Error, type: String, response: ServerResponse) {
        if let reason = ContentCodings(response.headers).unsupportedReason, Self.isAboutBytes(error) {
            self.init(type: type, unsupportedReason: reason, response: response)
            return
        }
        func failure(_ path: [any CodingKey], _ reason: String) -> ResponseDecodingError {
            ResponseDecodingError(type: type, codingPath: Self.text(of: path), reason: reason, response: response)
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            self = failure(context.codingPath + [key], "the key is missing")
        case DecodingError.valueNotFound(let expected, let context):
            self = failure(context.codingPath, "found null instead of \(expected)")
        case DecodingError.typeMismatch(let expected, let context):
            self = failure(context.codingPath, "the value is not of type \(expected)")
        case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty && response.isMarkup:
            self = failure([], "the body is HTML or XML, perhaps of a proxy or a captive portal")
        case DecodingError.dataCorrupted(let context):
            self = failure(context.codingPath, context.debugDescription)
        default:
            self = failure([], String(describing: error))
        }
    }

    /// Whether the decoder could not parse the body at all, as opposed to a missing key or a value of another type.
    private static func isAboutBytes(_ error: any Error) -> Bool {
        switch error {
        case DecodingError.dataCorrupted(let context): context.codingPath.isEmpty
        case is DecodingError: false
        default: true
        }
    }

    /// `articles[3].createdAt`.
    private static func text(of path: [any CodingKey]) -> String {
        path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}
