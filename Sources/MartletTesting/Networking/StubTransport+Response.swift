public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StubTransport {
    /// A response of a stub.
    public struct Response: Sendable {
        private let result: Result<(head: HTTPResponse, body: ByteStream), any Error>

        /// Creates a response with a body.
        public init(_ status: Int, headers: HTTPFields = [:], body: Data = Data()) {
            self.init(status, headers: headers, stream: ByteStream(body))
        }

        /// Creates a response whose body arrives in pieces. The stream may fail with a `TransportError`.
        public init(_ status: Int, headers: HTTPFields = [:], stream: ByteStream) {
            let head = HTTPResponse(status: .init(code: status), headerFields: headers)
            result = .success((head: head, body: stream))
        }

        private init(failure: any Error) {
            result = .failure(failure)
        }

        /// A response without a body.
        public static func status(_ status: Int, headers: HTTPFields = [:]) -> Response {
            Response(status, headers: headers)
        }

        /// A response with JSON text as its body.
        public static func json(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> Response {
            var headers = headers
            if headers[.contentType] == nil { headers[.contentType] = "application/json" }
            return Response(status, headers: headers, body: Data(text.utf8))
        }

        /// A response with a value encoded as JSON. If the value cannot be encoded, the request fails with the
        /// encoder's error.
        /// - Parameters:
        ///   - value: The value to encode.
        ///   - status: The status code.
        ///   - headers: The header fields. If `Content-Type` is missing, it is `application/json`.
        ///   - encoder: The encoder. The default one matches the client's default encoder.
        public static func json(
            _ value: some Encodable, status: Int = 200, headers: HTTPFields = [:], encoder: JSONEncoder = .martlet
        ) -> Response {
            do {
                return json(
                    String(decoding: try encoder.encode(value), as: UTF8.self), status: status, headers: headers)
            } catch {
                return Response(failure: error)
            }
        }

        /// A value in the envelope that ``/Martlet/ResponseEnvelope`` reads by default, encoded as
        /// ``json(_:status:headers:encoder:)`` encodes it.
        ///
        /// ```swift
        /// transport.when(.get, "/articles/7").respond(.envelope(article))
        /// ```
        ///
        /// A dictionary whose values are of different types is not `Encodable`. Use a struct, or give the text of the
        /// whole envelope to ``json(_:status:headers:)``.
        public static func envelope(_ value: some Encodable, status: Int = 200) -> Response {
            json(Success(data: value), status: status)
        }

        /// A failure in the envelope that ``/Martlet/ResponseEnvelope`` reads by default. The body reports the failure,
        /// so the status is 200 unless you pass another.
        ///
        /// ```swift
        /// transport.when(.post, "/articles").respond(
        ///     .envelope(code: "INVALID", message: "Check the fields.", errors: ["title": "is empty"], status: 422))
        /// ```
        /// - Parameters:
        ///   - code: The server's code.
        ///   - message: The human-readable message.
        ///   - errors: The messages, keyed by field name.
        ///   - status: The status code.
        public static func envelope(
            code: String, message: String, errors: [String: String] = [:], status: Int = 200
        ) -> Response {
            json(Refusal(code: code, message: message, errors: errors), status: status)
        }

        /// A token response with the field names that `TokenRefresher.json` expects by default:
        /// `{"accessToken":"…","refreshToken":"…","expiresIn":3600}`. It also has the tokens' expiry date, type, scope
        /// and additional fields, if there are any.
        public static func tokens(_ tokens: Tokens) -> Response {
            json(TokenObject(tokens: tokens))
        }

        /// A failure without a response, such as a lost connection.
        public static func failure(_ error: TransportError) -> Response {
            Response(failure: error)
        }

        func transportResponse() throws -> (head: HTTPResponse, body: ByteStream) {
            try result.get()
        }
    }
}

/// An envelope with a value.
private struct Success<Value: Encodable>: Encodable {
    var success = true
    var code = "OK"
    var data: Value
}

/// An envelope that reports a failure.
private struct Refusal: Encodable {
    struct Field: Encodable {
        var field: String
        var message: String
    }

    var success = false
    var code: String
    var message: String
    var errors: [Field]

    init(code: String, message: String, errors: [String: String]) {
        self.code = code
        self.message = message
        self.errors = errors.sorted { $0.key < $1.key }.map { Field(field: $0.key, message: $0.value) }
    }
}

extension CallDescription {
    /// A call for errors that a mock throws: `.offline(.stub)`.
    public static let stub = CallDescription(method: "GET", url: "https://api.example.com/stub", attempts: 1)
}

/// A token response as JSON.
private struct TokenObject: Encodable {
    let tokens: Tokens

    struct Name: CodingKey, ExpressibleByStringLiteral {
        let stringValue: String
        let intValue: Int? = nil
        init(stringValue: String) { self.stringValue = stringValue }
        init(stringLiteral value: String) { self.init(stringValue: value) }
        init?(intValue: Int) { return nil }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        for (name, value) in tokens.additionalFields { try object.encode(value, forKey: Name(stringValue: name)) }
        try object.encode(tokens.accessToken, forKey: "accessToken")
        try object.encodeIfPresent(tokens.refreshToken, forKey: "refreshToken")
        try object.encodeIfPresent(tokens.lifetime.map { $0 / .seconds(1) }, forKey: "expiresIn")
        try object.encodeIfPresent(tokens.expiresAt?.timeIntervalSince1970, forKey: "expiresAt")
        try object.encodeIfPresent(tokens.tokenType, forKey: "tokenType")
        try object.encodeIfPresent(tokens.scope, forKey: "scope")
    }
}
