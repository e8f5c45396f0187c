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

        /// A token response with the field names that `TokenRefresher.json` expects by default:
        /// `{"accessToken":"…","refreshToken":"…","expiresIn":3600}`, with the bundle's type, scope and additional fields
        /// if it has any.
        public static func tokens(_ bundle: Tokens) -> Response {
            json(TokenObject(bundle: bundle))
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

/// A token response as JSON.
private struct TokenObject: Encodable {
    let bundle: Tokens

    struct Name: CodingKey, ExpressibleByStringLiteral {
        let stringValue: String
        let intValue: Int? = nil
        init(stringValue: String) { self.stringValue = stringValue }
        init(stringLiteral value: String) { self.init(stringValue: value) }
        init?(intValue: Int) { return nil }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        for (name, value) in bundle.additionalFields { try object.encode(value, forKey: Name(stringValue: name)) }
        try object.encode(bundle.accessToken, forKey: "accessToken")
        try object.encodeIfPresent(bundle.refreshToken, forKey: "refreshToken")
        try object.encodeIfPresent(bundle.lifetime?.components.seconds, forKey: "expiresIn")
        try object.encodeIfPresent(bundle.tokenType, forKey: "tokenType")
        try object.encodeIfPresent(bundle.scope, forKey: "scope")
    }
}
