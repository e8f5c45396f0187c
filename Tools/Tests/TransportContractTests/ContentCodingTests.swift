import Foundation
import HTTPTypes
import Martlet
import Testing

extension TransportContract {
    /// Responses with content codings, alone and in lists (RFC 9110, section 8.4).
    @Suite("Content codings", .timeLimit(.minutes(10)))
    struct ContentCodings {
        private static let text = Data(#"{"name":"Ada"}"#.utf8)
        /// The text in gzip, once and twice.
        private static let gzip = bytes("H4sIAAAAAAACA6tWykvMTVWyUnJMSVSqBQAFcvopDgAAAA==")
        private static let gzipTwice = bytes("H4sIAAAAAAACA5Pv5mAAASbm1WGnvM/4hm4KKvLxDFnFysBa9EuTDygDABduX4EiAAAA")
        /// The text in Zstandard, and that in gzip.
        private static let zstd = bytes("KLUv/QBocQAAeyJuYW1lIjoiQWRhIn0=")
        private static let zstdInGzip = bytes("H4sIAAAAAAACA9PYqv+XIaOQgaFaKS8xN1XJSskxJVGpFgCW2oZ3FwAAAA==")
        /// The text in Brotli, as a block that is not compressed.
        private static let brotli = Data([0x8B, 0x06, 0x80]) + text + Data([0x03])

        private static func bytes(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }

        /// The outcome of a response.
        enum Outcome: Sendable {
            /// The decoded text, without a coding.
            case text
            /// Bytes with the codings that are left on them.
            case left(String, Data)
            /// An error that names the codings.
            case refused
            /// The text or an error, as libcurl was built.
            case textOrRefused
            /// An error that may not name the codings, because the head has not arrived.
            case failure
        }

        /// A response, and its outcome with each transport.
        struct Case: Sendable, CustomTestStringConvertible {
            let fields: [String]
            let body: Data
            let nio: Outcome
            let curl: Outcome
            var testDescription: String { fields.joined(separator: " | ") }

            init(_ fields: String..., body: Data, nio: Outcome, curl: Outcome) {
                self.fields = fields
                self.body = body
                self.nio = nio
                self.curl = curl
            }
        }

        static let cases = [
            Case("gzip", body: gzip, nio: .text, curl: .text),
            Case("GZip", body: gzip, nio: .text, curl: .text),
            Case(" gzip ,, ", body: gzip, nio: .text, curl: .text),
            Case("gzip, identity", body: gzip, nio: .text, curl: .text),
            Case("identity", body: text, nio: .text, curl: .text),
            Case("identity, gzip", body: gzip, nio: .left("identity, gzip", gzip), curl: .text),
            Case("x-gzip", body: gzip, nio: .left("x-gzip", gzip), curl: .text),
            Case("gzip, gzip", body: gzipTwice, nio: .left("gzip", gzip), curl: .text),
            Case("gzip", "gzip", body: gzipTwice, nio: .left("gzip", gzip), curl: .text),
            Case("br", body: brotli, nio: .left("br", brotli), curl: .textOrRefused),
            Case("zstd", body: zstd, nio: .left("zstd", zstd), curl: .textOrRefused),
            Case("zstd, gzip", body: zstdInGzip, nio: .left("zstd, gzip", zstdInGzip), curl: .textOrRefused),
            Case("gzip, foo", body: text, nio: .refused, curl: .refused),
            Case("gzip", "foo", body: text, nio: .refused, curl: .refused),
            Case("foo", body: text, nio: .left("foo", text), curl: .refused),
            Case(
                "gzip, gzip, gzip, gzip, gzip, gzip", body: gzip,
                nio: .left(
                    "gzip, gzip, gzip, gzip, gzip", text), curl: .failure),
        ]

        /// The length of an empty body in a response.
        enum EmptyBody: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case length = "Content-Length: 0\r\n\r\n"
            case chunked = "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

            var testDescription: String { "\(self)" }
        }

        @Test(
            "an empty body that claims to be compressed is an empty body", arguments: TransportKind.allCases,
            EmptyBody.allCases)
        func empty(_ kind: TransportKind, body: EmptyBody) async throws {
            for status in [200, 401, 503] {
                let server = try await WireServer.start { connection in
                    _ = try await connection.readRequest()
                    try await connection.write(
                        "HTTP/1.1 \(status) Status\r\nContent-Encoding: gzip\r\nETag: kept\r\n\(body.rawValue)")
                }
                let response = try await kind.make().send(request(to: server), body: nil)
                #expect(response.head.status.code == status)
                #expect(response.head.headerFields[.eTag] == "kept")
                #expect(try await response.body.collect(upTo: 1000) == Data())
                await server.stop()
            }
        }

        @Test("what is decoded is no longer announced, and the rest is kept", arguments: TransportKind.allCases, cases)
        func announced(_ kind: TransportKind, response: Case) async throws {
            guard let expected = kind.outcome(of: response) else { return }
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil {
                    let codings = response.fields.map { "Content-Encoding: \($0)\r\n" }.joined()
                    try await connection.write(
                        "HTTP/1.1 200 OK\r\n\(codings)Content-Length: \(response.body.count)\r\n"
                            + "Repr-Digest: sha-256=:AAAA:\r\n\r\n")
                    try await connection.write(response.body)
                }
            }
            var received: (coding: String?, length: String?, body: Data)?
            var reason: String?
            do {
                let response = try await kind.make().send(request(to: server), body: nil)
                received = try await (
                    response.head.headerFields[.contentEncoding], response.head.headerFields[.contentLength],
                    response.body.collect(upTo: 1000)
                )
            } catch TransportError.invalidResponse(let why) {
                reason = why
            }
            var outcome = expected
            if case .textOrRefused = expected { outcome = received == nil ? .refused : .text }
            switch outcome {
            case .text:
                #expect(received?.body == Self.text)
                #expect(received?.coding == nil)
                #expect((received?.length != nil) == (response.body == Self.text))
            case .left(let codings, let body):
                #expect(received?.body == body)
                #expect(received?.coding == codings)
                #expect((received?.length != nil) == (response.body == body))
            case .failure:
                #expect(reason != nil)
            case .refused, .textOrRefused:
                #expect(received == nil)
                let sent = response.fields.joined(separator: ", ")
                #expect(reason == "unsupported content coding \"\(sent)\"")
            }
            await server.stop()
        }
    }
}

extension TransportKind {
    /// The transport's outcome of a response; `nil` if it is not known.
    fileprivate func outcome(of response: TransportContract.ContentCodings.Case) -> TransportContract.ContentCodings
        .Outcome?
    {
        switch self {
        case .asyncHTTPClient, .asyncHTTPClientInMemory: response.nio
        case .urlSession, .urlSessionInMemory:
            #if canImport(FoundationNetworking)
                response.curl
            #else
                response.fields == ["gzip"] ? .text : nil
            #endif
        }
    }
}
