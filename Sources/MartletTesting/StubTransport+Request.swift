public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StubTransport {
    /// What a stub is asked.
    public struct Request: Sendable, CustomStringConvertible {
        /// The request as it came.
        public let request: HTTPRequest
        /// Its whole body.
        public let body: Data
        /// Its number among all, from 1.
        public let number: Int

        /// Path and query.
        public var path: String { request.path ?? "" }
        /// The method.
        public var method: HTTPRequest.Method { request.method }
        /// The header fields.
        public var headers: HTTPFields { request.headerFields }
        /// The bearer token, if there is one.
        public var bearer: String? {
            headers[.authorization].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        }
        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }

        /// The body as a value, from JSON.
        /// - Parameters:
        ///   - type: What it should be.
        ///   - decoder: Reads it; as a client writes by default.
        /// - Throws: What the decoder throws.
        public func value<Value: Decodable>(
            as type: Value.Type = Value.self, decoder: JSONDecoder = .martlet
        ) throws -> Value {
            try decoder.decode(type, from: body)
        }

        /// Method, path and query: `GET /articles?page=2`.
        public var description: String { "\(method) \(path)" }
    }
}
