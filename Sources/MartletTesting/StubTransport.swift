public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Answers requests as a test says, and remembers them.
///
/// ```swift
/// let transport = StubTransport { request in
///     request.path == "/me" ? .json(#"{"name":"Ada"}"#) : .status(404)
/// }
/// let client = NetworkClient(baseURL: "https://api.example.com", transport: transport)
/// ```
public final class StubTransport: Transport {
    /// What a stub is asked.
    public struct Request: Sendable {
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
    }

    /// What a stub answers.
    public struct Answer: Sendable {
        var head: HTTPResponse
        var body: ByteStream

        /// An answer of any kind.
        public init(_ status: Int, headers: HTTPFields = [:], body: Data = Data()) {
            head = HTTPResponse(status: .init(code: status), headerFields: headers)
            self.body = ByteStream(body)
        }

        /// An answer whose body comes piece by piece, and may break off by throwing what a transport throws.
        public init(_ status: Int, headers: HTTPFields = [:], stream: ByteStream) {
            head = HTTPResponse(status: .init(code: status), headerFields: headers)
            body = stream
        }

        /// A status without a body.
        public static func status(_ status: Int, headers: HTTPFields = [:]) -> Answer {
            Answer(status, headers: headers)
        }

        /// JSON.
        public static func json(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> Answer {
            var headers = headers
            if headers[.contentType] == nil { headers[.contentType] = "application/json" }
            return Answer(status, headers: headers, body: Data(text.utf8))
        }
    }

    /// Decides on an answer; it may wait, and may throw what a transport throws.
    public typealias Handler = @Sendable (Request) async throws -> Answer

    private let handler: Handler
    private let seen = Guarded<[Request]>([])

    /// Answers as the closure says.
    public init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    /// Every request so far, in the order in which they came.
    public var requests: [Request] { seen.withLock { $0 } }

    /// The requests so far whose path is this one, the query left out.
    public func requests(to path: String) -> [Request] {
        requests.filter { $0.path.prefix { $0 != "?" } == path }
    }

    /// Reads the body, remembers the request and asks the closure.
    public func send(_ request: HTTPRequest, body: OutgoingBody?) async throws -> TransportResponse {
        let bytes: Data
        switch body?.content {
        case .bytes(let data): bytes = data
        case .stream(let stream):
            do {
                bytes = try await stream.collect(upTo: .max)
            } catch {
                throw TransportError.bodyFailed(error)
            }
        case nil: bytes = Data()
        }
        let asked = seen.withLock { seen in
            let asked = Request(request: request, body: bytes, number: seen.count + 1)
            seen.append(asked)
            return asked
        }
        try Task.checkCancellation()
        let answer = try await handler(asked)
        try Task.checkCancellation()
        return TransportResponse(head: answer.head, body: answer.body)
    }

    /// What this stub answers to a request of another one.
    public func answer(_ request: Request) async throws -> Answer {
        try await handler(request)
    }
}
