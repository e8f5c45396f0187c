import Foundation
import HTTPTypes
import Martlet
import Testing

extension TransportContract {
    /// The behavior that every transport has on every platform.
    @Suite("Requests and responses", .timeLimit(.minutes(10)))
    struct Responses {
        @Test(arguments: TransportKind.allCases, ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
        func method(_ kind: TransportKind, method: String) async throws {
            let seen = Locker<WireRequest?>(nil)
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    seen.with { $0 = request }
                    let body = request.line.hasPrefix("HEAD") ? "" : "hello"
                    try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Custom: a b\r\n\r\n\(body)")
                }
            }
            let transport = kind.make()
            let method = try #require(HTTPRequest.Method(method))
            let request = request(method, "/a%20b/c?q=1%2B1&r=%2F", to: server, [.accept: "text/plain"])
            let response = try await transport.send(request, body: nil)
            #expect(response.head.status == .ok)
            #expect(try response.head.headerFields[#require(HTTPField.Name("x-custom"))] == "a b")
            #expect(response.head.headerFields[.contentLength] == "5")
            #expect(try await response.body.collect(upTo: 100) == Data(method == .head ? "".utf8 : "hello".utf8))
            let got = try #require(seen.with { $0 })
            #expect(got.line == "\(method.rawValue) /a%20b/c?q=1%2B1&r=%2F HTTP/1.1")
            #expect(got["host"] == server.authority)
            #expect(got["accept"] == "text/plain")
            #expect(got["cookie"] == nil)
            #expect(got["content-type"] == nil)
            #expect(got["transfer-encoding"] == nil)
            #expect(got.body.isEmpty)
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func repeatedFields(_ kind: TransportKind) async throws {
            let seen = Locker<WireRequest?>(nil)
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    seen.with { $0 = request }
                    try await connection.respond(fields: [
                        "X-Many: 1", "Set-Cookie: a=1", "X-Many: 2", "Set-Cookie: b=2",
                    ])
                }
            }
            let many = try #require(HTTPField.Name("X-Many"))
            var fields = HTTPFields()
            fields.append(HTTPField(name: many, value: "1"))
            fields.append(HTTPField(name: .cookie, value: "a=1"))
            fields.append(HTTPField(name: many, value: "2"))
            fields.append(HTTPField(name: .cookie, value: "b=2"))
            let response = try await kind.make().send(request(to: server, fields), body: nil)
            let got = try #require(seen.with { $0 })
            let sent = try #require(got["x-many"])
            #expect(["1|2", "1, 2", "1,2"].contains(sent))
            // HTTP/1.1 allows only one `Cookie` field.
            #expect(got["cookie"] == "a=1; b=2")
            let returned = response.head.headerFields
            #expect(returned[many].map { ["1, 2", "1,2"].contains($0) } == true)
            try kind.needs(.repeatedFieldsOfResponses)
            #expect(returned[values: many] == ["1", "2"])
            #expect(returned[values: .setCookie] == ["a=1", "b=2"])
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases, [200, 204, 304])
        func emptyBody(_ kind: TransportKind, status: Int) async throws {
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil {
                    let length = status == 200 ? "Content-Length: 0\r\n" : ""
                    try await connection.write("HTTP/1.1 \(status) Fine\r\n\(length)\r\n")
                }
            }
            let response = try await kind.make().send(request(to: server), body: nil)
            #expect(response.head.status.code == status)
            #expect(try await response.body.collect(upTo: 0).isEmpty)
            await server.stop()
        }

        @Test("A response without a body may have a `Content-Encoding`", arguments: TransportKind.allCases)
        func encodedNothing(_ kind: TransportKind) async throws {
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    let isHead = request.line.hasPrefix("HEAD")
                    try await connection.write(
                        "HTTP/1.1 \(isHead ? "200 OK" : "304 Not Modified")\r\nContent-Encoding: gzip\r\n"
                            + "Content-Length: 99\r\n\r\n")
                }
            }
            let transport = kind.make()
            for method in [HTTPRequest.Method.head, .get] {
                let response = try await transport.send(request(method, to: server), body: nil)
                #expect(response.head.headerFields[.contentLength] == "99" || method == .get)
                #expect(try await response.body.collect(upTo: 0).isEmpty)
            }
            await server.stop()
        }

        @Test("Pieces of a body may be kept and modified while later ones arrive", arguments: TransportKind.allCases)
        func keptPieces(_ kind: TransportKind) async throws {
            let size = 4_000_000
            let sent = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil {
                    try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                    try await connection.write(sent)
                }
            }
            let response = try await kind.make().send(request(to: server), body: nil)
            var (kept, changed) = ([Data](), [Data]())
            for try await var piece in response.body {
                kept.append(kept.count.isMultiple(of: 2) ? piece : Data(Array(piece)))
                for index in piece.indices { piece[index] ^= 0xFF }
                piece.append(7)
                changed.append(piece)
            }
            #expect(kept.reduce(into: Data()) { $0.append($1) } == sent)
            #expect(zip(kept, changed).allSatisfy { Array($1) == $0.map { $0 ^ 0xFF } + [7] })
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases, [1, 100_000, 5_000_000])
        func bytes(_ kind: TransportKind, count: Int) async throws {
            let seen = Locker<WireRequest?>(nil)
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    seen.with { $0 = request }
                    try await connection.respond()
                }
            }
            let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let transport = kind.make()
            for method in [HTTPRequest.Method.post, .put, .delete, .patch] {
                let response = try await transport.send(
                    request(method, to: server, [.contentType: "image/png"]), body: OutgoingBody(body))
                #expect(response.head.status == .ok)
                _ = try await response.body.collect(upTo: 10)
                let got = try #require(seen.with { $0 })
                #expect(got.body == body)
                #expect(got["content-length"] == String(count))
                #expect(got["transfer-encoding"] == nil)
                #expect(got["content-type"] == "image/png")
            }
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func noBytes(_ kind: TransportKind) async throws {
            let seen = Locker<WireRequest?>(nil)
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    seen.with { $0 = request }
                    try await connection.respond()
                }
            }
            _ = try await kind.make().send(request(.post, to: server), body: OutgoingBody(Data()))
            #expect(seen.with { $0 }?["content-length"] == "0")
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func bodyOfGet(_ kind: TransportKind) async throws {
            try kind.needs(.bodyOfGet)
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    try await connection.respond(body: String(decoding: request.body, as: UTF8.self))
                }
            }
            let response = try await kind.make().send(request(to: server), body: OutgoingBody(Data("query".utf8)))
            #expect(try await response.body.collect(upTo: 10) == Data("query".utf8))
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases, [true, false])
        func stream(_ kind: TransportKind, hasLength: Bool) async throws {
            let seen = Locker<WireRequest?>(nil)
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    seen.with { $0 = request }
                    try await connection.respond(body: "done")
                }
            }
            // A piece that exceeds the transport's buffer, an empty piece and a small one.
            let pieces = [Data(repeating: 1, count: 700_000), Data(), Data("end".utf8)]
            let count = 700_003
            let body = OutgoingBody(ByteStream(Pieces(pieces: pieces)), length: hasLength ? Int64(count) : nil)
            let response = try await kind.make().send(request(.put, to: server), body: body)
            #expect(try await response.body.collect(upTo: 10) == Data("done".utf8))
            let got = try #require(seen.with { $0 })
            #expect(got.body == Data(pieces.joined()))
            if hasLength {
                #expect(got["content-length"] == String(count))
                #expect(!got.isChunked)
            } else {
                try kind.needs(.chunkedRequests)
                #expect(got.isChunked)
                #expect(got["content-length"] == nil)
            }
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func gzip(_ kind: TransportKind) async throws {
            // `gzip -9n` of "The quick brown fox jumps over the lazy dog.\n"
            let packed = try #require(
                Data(
                    base64Encoded:
                        "H4sIAAAAAAACAwvJSFUoLM1MzlZIKsovz1NIy69QyCrNLShWyC9LLVIoAUrnJFZVKqTkp+txAQBqzFDrLQAAAA=="
                ))
            let seen = Locker<WireRequest?>(nil)
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    seen.with { $0 = request }
                    try await connection.write(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\nVary: x\r\n"
                            + "Repr-Digest: sha-256=:AAAA:\r\nContent-Digest: sha-256=:AAAA:\r\n\r\n"
                    )
                    try await connection.write(packed)
                }
            }
            let response = try await kind.make().send(request(to: server), body: nil)
            let text = String(decoding: try await response.body.collect(upTo: 1000), as: UTF8.self)
            #expect(text == "The quick brown fox jumps over the lazy dog.\n")
            // The length and the digests describe the compressed body.
            #expect(response.head.headerFields.map { $0.name.canonicalName } == ["vary"])
            #expect(seen.with { $0 }?["accept-encoding"]?.contains("gzip") == true)
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func largeResponse(_ kind: TransportKind) async throws {
            let count = 64
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil {
                    try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(count << 20)\r\n\r\n")
                    for index in 0..<count { try await connection.write(Data(repeating: UInt8(index), count: 1 << 20)) }
                }
            }
            let response = try await kind.make().send(request(to: server), body: nil)
            var length = 0
            var sum = 0
            for try await piece in response.body {
                length += piece.count
                sum += piece.withUnsafeBytes { $0.reduce(0) { $0 + Int($1) } }
            }
            #expect(length == count << 20)
            #expect(sum == (0..<count).reduce(0, +) << 20)
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func bodyIsReadOnce(_ kind: TransportKind) async throws {
            try kind.needs(.streamedResponses)
            let server = try await WireServer.start { connection in
                while try await connection.readRequest() != nil { try await connection.respond(body: "once") }
            }
            let response = try await kind.make().send(request(to: server), body: nil)
            #expect(try await response.body.collect(upTo: 10) == Data("once".utf8))
            await #expect(throws: (any Error).self) { try await response.body.collect(upTo: 10) }
            await server.stop()
        }

        @Test(arguments: TransportKind.allCases)
        func manyAtOnce(_ kind: TransportKind) async throws {
            let server = try await WireServer.start { connection in
                while let request = try await connection.readRequest() {
                    try await connection.respond(body: request.line + String(decoding: request.body, as: UTF8.self))
                }
            }
            let transport = kind.make()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        let response = try await transport.send(
                            request(.post, "/\(index)", to: server), body: OutgoingBody(Data("-\(index)".utf8)))
                        let text = String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
                        return text == "POST /\(index) HTTP/1.1-\(index)"
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            await server.stop()
        }
    }
}
