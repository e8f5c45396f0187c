#if !os(Linux) || URLSession || !AsyncHTTPClient
    import Foundation
    import HTTPTypes
    import MartletTestSupport
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @testable import Martlet

    @Suite("A response decoded by URLSession", .noBlockingCalls, .timeLimit(.minutes(10))) struct DecodedResponseTests {
        private static let text = Data(#"{"name":"Ada"}"#.utf8)
        private static let zstd = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x68, 0x71, 0x00, 0x00]) + text
        private static let gzip = Data([0x1F, 0x8B, 0x08, 0x00, 0x00])

        private static func response(_ fields: [String: String], status: Int = 200) throws -> HTTPURLResponse {
            let url = try #require(URL(string: "https://api.example.com/film"))
            return try #require(
                HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
        }

        /// Delivers a response as a session does, and returns what arrives while it is received.
        private static func received(
            _ fields: [String: String], _ pieces: [Data], isHead: Bool = false, inMemory: Bool = false
        ) async throws -> (head: HTTPResponse, body: Data, delivered: Int) {
            let exchange = URLSessionExchange(host: "api.example.com", isHead: isHead)
            let response = try response(fields)
            let delivered = Locked(0)
            let deliver = {
                _ = exchange.receive(response)
                for piece in pieces {
                    exchange.receive(piece)
                    if exchange.state.withLock({ $0.head == nil }) { delivered.withLock { $0 += 1 } }
                }
                exchange.complete(response, nil)
            }
            if inMemory {
                try await withCheckedThrowingContinuation { caller in
                    exchange.state.withLock { ($0.caller, $0.maximumCount) = (caller, 1000) }
                    deliver()
                }
                let head = try #require(exchange.state.withLock { $0.head })
                let body = exchange.state.withLock { $0.pieces.reduce(Data(), +) }
                return (head, body, delivered.withLock { $0 })
            }
            let head = try await withCheckedThrowingContinuation { sender in
                exchange.state.withLock { $0.sender = sender }
                deliver()
            }
            var body = Data()
            while let piece = try await exchange.next() { body += piece }
            return (head, body, delivered.withLock { $0 })
        }

        @Test("fields that describe the encoded body are removed, unless there is no body", arguments: [true, false])
        func fields(isHead: Bool) async throws {
            let before = [
                "Content-Encoding": "gzip", "Content-Length": "20", "Repr-Digest": "sha-256=:AAAA:",
                "Content-Digest": "sha-256=:AAAA:", "Content-Range": "bytes 0-19/40", "ETag": "\"one\"",
            ]
            let head = try await Self.received(before, isHead ? [] : [Self.text], isHead: isHead).head
            let names = Set(head.headerFields.map { $0.name.canonicalName })
            #expect(names == (isHead ? Set(before.keys.map { $0.lowercased() }) : ["etag"]))
        }

        @Test(
            "a list of codings that every system decodes is decoded",
            arguments: ["gzip", "GZIP", "x-gzip", "gzip, br", "deflate,, gzip", "br", "gzip, identity", "identity"])
        func decoded(coding: String) async throws {
            let received = try await Self.received(["Content-Encoding": coding, "Content-Length": "14"], [Self.text])
            #expect(received.head.headerFields[.contentEncoding] == nil)
            #expect((received.head.headerFields[.contentLength] == nil) == (coding != "identity"))
            #expect(received.body == Self.text)
        }

        @Test(
            "a coding that the session does not know is left", arguments: ["foo", "gzip, foo", "foo, gzip", "compress"])
        func unknown(coding: String) async throws {
            let received = try await Self.received(["Content-Encoding": coding, "Content-Length": "14"], [Self.text])
            #expect(received.head.headerFields[.contentEncoding] == coding)
            #expect(received.head.headerFields[.contentLength] == "14")
        }

        @Test(
            "the bytes tell whether Zstandard has been decoded",
            arguments: [
                ("zstd", text, nil), ("zstd", zstd, "zstd"), ("ZSTD", zstd, "ZSTD"), ("gzip, zstd", zstd, "gzip, zstd"),
                ("zstd, gzip", zstd, "zstd"), ("zstd, gzip", text, nil), ("zstd, gzip", gzip, "zstd, gzip"),
                ("zstd", Data([0x5A, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]), "zstd"), ("zstd", Data("PZ".utf8), nil),
                ("zstd", Data(), nil), ("zstd", Data([0x28, 0xB5, 0x2F]), nil), ("zstd, foo", text, "zstd, foo"),
            ] as [(String, Data, String?)], [1, 3, 100])
        func zstandard(_ response: (coding: String, body: Data, left: String?), size: Int) async throws {
            let bytes = Array(response.body)
            let pieces = stride(from: 0, to: bytes.count, by: size).map {
                Data(bytes[$0..<min($0 + size, bytes.count)])
            }
            for inMemory in [true, false] {
                let received = try await Self.received(
                    ["Content-Encoding": response.coding, "Content-Length": "99"], pieces, inMemory: inMemory)
                #expect(received.head.headerFields[.contentEncoding] == response.left)
                #expect((received.head.headerFields[.contentLength] == nil) == (response.left != response.coding))
                #expect(received.body == response.body)
                #expect(received.delivered < 4)
            }
        }

        @Test("a response that breaks off before its coding is known is an error") func broken() async throws {
            let exchange = URLSessionExchange(host: "api.example.com", isHead: false)
            let response = try Self.response(["Content-Encoding": "zstd"])
            await #expect(throws: TransportError.self) {
                _ = try await withCheckedThrowingContinuation { sender in
                    exchange.state.withLock { $0.sender = sender }
                    _ = exchange.receive(response)
                    exchange.receive(Data([0x28]))
                    exchange.complete(response, URLError(.networkConnectionLost))
                }
            }
        }
    }
#endif
