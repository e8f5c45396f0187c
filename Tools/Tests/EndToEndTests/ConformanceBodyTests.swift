internal import Crypto
internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Conformance over the wire: replayed bodies", .timeLimit(.minutes(10)))
    struct ConformanceBodyTests {
        /// More bytes than a socket accepts at once.
        static let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 7)) })
        static let whole = Upload(
            size: content.count, sha256: SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined())

        /// A stream of the content that counts how often it is opened.
        final class Source: Sendable {
            let opened = NIOLockedValueBox(0)

            func body(length: Int64? = Int64(content.count)) -> RequestBody {
                .stream(length: length, contentType: "application/octet-stream") { [opened] in
                    opened.withLockedValue { $0 += 1 }
                    return Self.pieces()
                }
            }

            static func pieces() -> ByteStream {
                ByteStream {
                    var rest = content[...]
                    return {
                        let piece = rest.prefix(100_000)
                        rest = rest.dropFirst(100_000)
                        return piece.isEmpty ? nil : Data(piece)
                    }
                }
            }
        }

        @Test(
            "C37: a single-pass stream is not replayed empty after a 401", arguments: Wire.allCases,
            [true, false])
        func singleUse(wire: Wire, afterBody: Bool) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                app.controls.update { $0.authenticatesAfterBody = afterBody }
                let body = RequestBody.singleUse(Source.pieces(), length: Int64(Self.content.count))
                guard
                    case .bodyNotReplayable(_, let response) = try await app.failure(of: AnyCall.post("/uploads", body))
                else {
                    return #expect(Bool(false), "not refused")
                }
                #expect(response?.status == 401)
                #expect(app.counters["POST /uploads"] == 1)
            }
        }

        @Test("C37: the same stream succeeds if the token is refreshed beforehand", arguments: Wire.allCases)
        func singleUseOnce(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let body = RequestBody.singleUse(Source.pieces(), length: nil)
                let parts: [Upload] = try await app.client.send(AnyCall.post("/uploads", body))
                #expect(parts == [Self.whole])
            }
        }

        @Test(
            "C38: after a 401 the body is opened again and arrives whole", arguments: Wire.allCases, [true, false])
        func afterRefusal(wire: Wire, afterBody: Bool) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                app.controls.update { $0.authenticatesAfterBody = afterBody }
                let source = Source()
                let parts: [Upload] = try await app.client.send(AnyCall.post("/uploads", source.body()))
                #expect(parts == [Self.whole])
                #expect(source.opened.withLockedValue { $0 } == 2)
                #expect(app.counters.refreshesCalled == 1 && app.counters["POST /uploads"] == 2)
            }
        }

        @Test("C38: after a 307 the body is opened again and arrives whole", arguments: Wire.allCases, [307, 308])
        func afterRedirect(wire: Wire, code: Int) async throws {
            try await App.run(.reissue, over: wire) { app in
                let source = Source()
                let call = AnyCall.post(
                    "/_control/redirect", source.body(), query: ["status": code, "to": "/_control/echo"])
                let echo: Echo = try await app.client.send(call)
                #expect(echo.bodyLength == Self.content.count && echo.bodySha256 == Self.whole.sha256)
                #expect(source.opened.withLockedValue { $0 } == 2)
            }
        }

        @Test("C38: after a 307 and then a 401 the body arrives whole", arguments: Wire.allCases)
        func afterBoth(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                let source = Source()
                let call = AnyCall.post("/_control/redirect", source.body(), query: ["status": 307, "to": "/uploads"])
                let parts: [Upload] = try await app.client.send(call)
                #expect(parts == [Self.whole])
                #expect(source.opened.withLockedValue { $0 } == 4)
            }
        }

        @Test("C38: a file and a form are read again too", arguments: Wire.allCases)
        func fileAndForm(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let path = app.storePath + ".upload"
                try Self.content.write(to: URL(fileURLWithPath: path))
                var form = MultipartForm()
                form.append(fileAt: path, named: "file")
                for body in [RequestBody.file(at: path), .multipart(form)] {
                    try await app.controls.expireAccessTokens()
                    let parts: [Upload] = try await app.client.send(AnyCall.post("/uploads", body))
                    #expect(parts == [Self.whole])
                }
                #expect(app.counters.refreshesCalled == 2)
            }
        }

        @Test("C38: a stream of unknown length is opened again too", arguments: Wire.allCases)
        func unknownLength(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                let source = Source()
                let parts: [Upload] = try await app.client.send(AnyCall.post("/uploads", source.body(length: nil)))
                #expect(parts == [Self.whole])
                #expect(source.opened.withLockedValue { $0 } == 2)
            }
        }
    }
}
