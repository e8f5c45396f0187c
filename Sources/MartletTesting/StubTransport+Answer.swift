public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension StubTransport {
    /// What a stub answers.
    public struct Answer: Sendable {
        private let result: Result<TransportResponse, any Error>

        /// An answer of any kind.
        public init(_ status: Int, headers: HTTPFields = [:], body: Data = Data()) {
            self.init(status, headers: headers, stream: ByteStream(body))
        }

        /// An answer whose body comes piece by piece, and may break off by throwing what a transport throws.
        public init(_ status: Int, headers: HTTPFields = [:], stream: ByteStream) {
            let head = HTTPResponse(status: .init(code: status), headerFields: headers)
            result = .success(TransportResponse(head: head, body: stream))
        }

        private init(failure: any Error) {
            result = .failure(failure)
        }

        /// A status without a body.
        public static func status(_ status: Int, headers: HTTPFields = [:]) -> Answer {
            Answer(status, headers: headers)
        }

        /// JSON that is written out.
        public static func json(_ text: String, status: Int = 200, headers: HTTPFields = [:]) -> Answer {
            var headers = headers
            if headers[.contentType] == nil { headers[.contentType] = "application/json" }
            return Answer(status, headers: headers, body: Data(text.utf8))
        }

        /// A value as JSON. A value that cannot be encoded fails the request.
        /// - Parameters:
        ///   - value: What is answered.
        ///   - status: The status.
        ///   - headers: The header fields; `Content-Type` is JSON's where it is not among them.
        ///   - encoder: Writes it; as a client writes by default.
        public static func json(
            _ value: some Encodable, status: Int = 200, headers: HTTPFields = [:], encoder: JSONEncoder = .martlet
        ) -> Answer {
            do {
                return json(
                    String(decoding: try encoder.encode(value), as: UTF8.self), status: status, headers: headers)
            } catch {
                return Answer(failure: error)
            }
        }

        /// New tokens as many servers give them, with the names that every refresher of JSON looks for:
        /// `{"accessToken":"…","refreshToken":"…","expiresIn":3600}`.
        public static func tokens(_ bundle: TokenBundle) -> Answer {
            struct Tokens: Encodable {
                let accessToken: String
                let refreshToken: String?
                let expiresIn: Int64?
            }
            return json(
                Tokens(
                    accessToken: bundle.accessToken.reveal(), refreshToken: bundle.refreshToken?.reveal(),
                    expiresIn: bundle.lifetime?.components.seconds))
        }

        /// No answer: the device is offline, the connection breaks.
        public static func failure(_ error: TransportError) -> Answer {
            Answer(failure: error)
        }

        func response() throws -> TransportResponse {
            try result.get()
        }
    }
}
