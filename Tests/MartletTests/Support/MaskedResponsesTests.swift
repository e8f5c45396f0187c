import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Masking of responses", .timeLimit(.minutes(10))) struct MaskedResponsesTests {
    private static let jwtA = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJBIn0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

    @Test("an error shows no secret of a body in UTF-16") func utf16() {
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            let body = (#"{"password":"hunter2"}"#.data(using: encoding) ?? Data())
            let response = ServerResponse(head: HTTPResponse(status: .badRequest), body: body)
            let visible = "\(response)".filter { $0 != "\0" }
            #expect(!visible.contains("hunter2"), "\(visible)")
        }
    }

    @Test("a problem's instance shows no token of the path") func instance() async throws {
        let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        let transport = StubTransport { _ in
            .json(
                "{\"title\":\"Not Found\",\"status\":404,\"instance\":\"/password-resets/\(token)\"}", status: 404,
                headers: [.contentType: "application/problem+json"])
        }
        let failure = await error { _ = try await client(transport).text(Visit("/password-resets/\(token)")) }
        let text = "\(try #require(failure))"
        #expect(!text.contains(token), "\(text)")
        var dumped = ""
        dump(failure, to: &dumped)
        #expect(!dumped.contains(token))
    }

    @Test("a problem's instance shows no secret of the query") func instanceQuery() async throws {
        let transport = StubTransport { _ in
            .json(
                #"{"title":"Bad","status":400,"instance":"https://api.example.com/x?access_token=hunter2"}"#,
                status: 400,
                headers: [.contentType: "application/problem+json"])
        }
        let failure = await error { _ = try await client(transport).text(Visit("/x")) }
        #expect(!"\(try #require(failure))".contains("hunter2"), "\(String(describing: failure))")
    }

    @Test(
        "an accent after the mark of a URL does not uncover its password",
        arguments: ["https://me:hunter2@\u{301}h/x"])
    func accent(url: String) {
        #expect(!CallDescription(method: "GET", url: url, attempts: 1).description.contains("hunter2"))
    }

    @Test(
        "a JWT in a field is masked, whatever precedes it",
        arguments: ["", "v1.", "jwt_", "id-", "session/", "a+", "~", "base64url.bearer.authorization.k8s.io."])
    func prefixedJWT(prefix: String) {
        let fields: HTTPFields = [(HTTPField.Name("Sec-WebSocket-Protocol") ?? .server): prefix + Self.jwtA]
        #expect(!fields.redacted.map(\.value).joined().contains("AAAAAAAAAAAAAAAAAAAAAAAA"), "\(fields.redacted)")
    }

    @Test(
        "a token in the path of a Location is masked, also in a relative one",
        arguments: ["/resets/", "resets/", "../resets/", "./", "?next=/resets/", "https://api.example.com/resets/"])
    func relativeLocation(prefix: String) async throws {
        let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        let fields: HTTPFields = [.location: prefix + token]
        #expect(!fields.redacted.map(\.value).joined().contains(token), "\(fields.redacted)")
        let seen = Log()
        struct Watch: NetworkObserver {
            let log: Log
            func observe(_ event: CallEvent) {
                if case .received(_, let response) = event {
                    log.add(response.head.headerFields.map { $0.value }.joined(separator: "|"))
                }
            }
        }
        let transport = StubTransport { _ in .status(201, headers: [.location: prefix + token]) }
        _ = try await client(transport) { $0.observers = [Watch(log: seen)] }.text(Visit("/resets", .post))
        #expect(!seen.lines.isEmpty && !seen.lines.contains { $0.contains(token) }, "\(seen.lines)")
    }

    @Test("a call that decodes UTF-16 shows no secret when it fails") func utf16Call() async throws {
        struct Wanted: Decodable { var id: Int }
        let body = (#"{"password":"hunter2"}"#.data(using: .utf16LittleEndian) ?? Data())
        let transport = StubTransport { _ in
            StubTransport.Response(200, headers: [.contentType: "application/json; charset=utf-16le"], body: body)
        }
        let client = client(transport)
        let failure = await error { let _: Wanted = try await client.send(Visit("/x")) }
        let text = "\(try #require(failure))"
        #expect(!text.filter { $0 != "\0" }.contains("hunter2"), "\(text)")
        #expect(text.contains("missing"), "the decoder has read it: \(text)")
    }
}
