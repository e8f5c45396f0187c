public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StubTransport {
    /// A request that a stub received.
    public struct Request: Sendable, CustomStringConvertible {
        /// The request head.
        public let request: HTTPRequest
        /// The complete body.
        public let body: Data
        /// The position among all requests of the stub, from 1.
        public let number: Int

        /// The path and the query.
        public var path: String { request.path ?? "" }
        /// The method.
        public var method: HTTPRequest.Method { request.method }
        /// The header fields.
        public var headers: HTTPFields { request.headerFields }
        /// The bearer token of the `Authorization` field; `nil` if there is none.
        public var bearer: String? {
            headers[.authorization].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        }
        /// The body as UTF-8 text.
        public var text: String { String(decoding: body, as: UTF8.self) }

        /// Decodes the body from JSON.
        /// - Parameters:
        ///   - type: The type to decode.
        ///   - decoder: The decoder. The default one matches the client's default encoder.
        /// - Throws: The decoder's error.
        public func value<Value: Decodable>(
            as type: Value.Type = Value.self, decoder: JSONDecoder = .martlet
        ) throws -> Value {
            try decoder.decode(type, from: body)
        }

        /// The method, path and query: `GET /articles?page=2`.
        public var description: String { "\(method) \(path)" }
    }
}
