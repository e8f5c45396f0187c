import Foundation
import Martlet
import MartletTesting
import Testing

@Suite("Response decoding", .timeLimit(.minutes(10))) struct DecodingTests {
    @Test(
        "C64: an error in an envelope is typed, whatever the response status",
        arguments: [200, 400, 401, 404, 422, 500])
    func envelopedRefusal(status: Int) async throws {
        let body = """
            {"success":false,"code":"INVALID_NAME","message":"The name is too long","data":null,
             "errors":[{"field":"name","message":"at most 40 characters"},"and no spaces"],
             "meta":{"timestamp":"2026-01-02T03:04:05.678Z","path":"/a","requestId":"7f3a","durationMs":3}}
            """
        let failure = await answering(body, status: status, envelope: ResponseEnvelope()).failure(User.self)
        guard case .api(_, let refusal) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(refusal.code == "INVALID_NAME")
        #expect(refusal.message == "The name is too long")
        #expect(
            refusal.errors == [.init(field: "name", message: "at most 40 characters"), .init(message: "and no spaces")])
        #expect(refusal.requestID == "7f3a")
        #expect(refusal.status == status)
        #expect(failure?.description.hasSuffix("[request 7f3a]") == true)
    }

    @Test("an envelope is unwrapped, dates included") func envelope() async throws {
        let body = """
            {"success":true,"code":"OK","message":"fine","data":{"name":"Ada","since":"2026-01-02T03:04:05.678Z"},
             "errors":[],"meta":{"timestamp":"2026-01-02T03:04:05Z"}}
            """
        let user: User = try await answering(body, envelope: ResponseEnvelope()).send(Get("/a", .none))
        #expect(user.name == "Ada")
        #expect(abs((user.since?.timeIntervalSince1970 ?? 0) - 1_767_323_045.678) < 0.001)
    }

    @Test("an envelope can use other field names") func renamedEnvelope() async throws {
        let envelope = ResponseEnvelope(success: "ok", data: "payload")
        let user: User = try await answering(#"{"ok":true,"payload":{"name":"Ada"}}"#, envelope: envelope)
            .send(Get("/a", .none))
        #expect(user.name == "Ada")
        let failure = await answering(#"{"ok":false,"message":"no"}"#, envelope: envelope).failure(User.self)
        guard case .api(_, let refusal) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(refusal.message == "no")
    }

    @Test(
        "an envelope without data decodes into an optional or an empty response") func envelopeWithoutData()
        async throws
    {
        let client = answering(#"{"success":true,"code":"OK","data":null}"#, envelope: ResponseEnvelope())
        let user: User? = try await client.send(Get("/a", .none))
        #expect(user == nil)
        try await client.send(Get("/a", .none))
        guard case .decoding(_, let failure) = await client.failure(User.self) else {
            Issue.record("`null` decoded into a User")
            return
        }
        #expect(failure.codingPath == "data")
    }

    @Test("a decoder of the app reads every response, within an envelope too", arguments: [true, false])
    func ownDecoder(inEnvelope: Bool) async throws {
        let user = #"<key>name</key><string>Ada</string>"#
        let body =
            inEnvelope
            ? "<dict><key>ok</key><true/><key>payload</key><dict>\(user)</dict></dict>" : "<dict>\(user)</dict>"
        let client = answering(
            #"<plist version="1.0">\#(body)</plist>"#,
            envelope: inEnvelope ? ResponseEnvelope(success: "ok", data: "payload") : nil, decoder: PropertyLists())
        let decoded: User = try await client.send(Get("/a", .none))
        #expect(decoded.name == "Ada")
    }

    @Test("a problem document is a typed error") func problem() async throws {
        let body = """
            {"type":"https://example.com/out-of-credit","title":"Out of credit","status":403,
             "detail":"30 are needed","instance":"/account/12","errors":[{"pointer":"#/age","detail":"must be positive"}]}
            """
        let transport = StubTransport { _ in
            .json(body, status: 403, headers: [.contentType: "application/problem+json; charset=utf-8"])
        }
        guard case .api(_, let refusal) = await client(transport).failure(User.self) else {
            Issue.record("the problem document was not recognized")
            return
        }
        #expect(refusal.code == "https://example.com/out-of-credit")
        #expect(refusal.message == "30 are needed")
        #expect(refusal.errors == [.init(field: "#/age", message: "must be positive")])
    }

    @Test(
        "the message about a secret field is masked, whatever the form of the field's name",
        arguments: [
            "password", "/data/attributes/password", "#/password", "user[password]", "password[0]", "password (again)",
        ])
    func secretFields(name: String) {
        for message in ["hunter3 is weak", "too weak:\nhunter3"] {
            let error = APIError.FieldError(field: name, message: message)
            #expect(!error.description.contains("hunter3") && error.description.hasSuffix(": <redacted>"))
        }
        #expect(APIError.FieldError(field: "title", message: "is empty").description == "title: is empty")
    }

    @Test("an error shows the ID of a request, unless it is a token") func requestID() {
        func error(_ id: String) -> APIError {
            APIError(code: nil, message: "No.", requestID: id, response: ServerResponse(status: 400, "{}"))
        }
        #expect("\(error("0af7651916cd43dd8448eb211c80319c"))".contains("0af7651916cd43dd8448eb211c80319c"))
        #expect(!"\(error("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"))".contains("eyJhbGci"))
    }

    @Test(
        "the errors of fields are read as texts, as objects, and by the names of the fields", arguments: [true, false])
    func fieldErrors(inEnvelope: Bool) async {
        let forms: [(json: String, errors: [APIError.FieldError])] = [
            (#"["too long"]"#, [.init(message: "too long")]),
            (#"[{"name":"title","reason":"too long"}]"#, [.init(field: "title", message: "too long")]),
            (
                #"{"title":["too long","no name"],"age":"below zero","tags":{"path":"tags[2]","detail":"unknown"},"x":7}"#,
                [
                    .init(field: "age", message: "below zero"), .init(field: "tags[2]", message: "unknown"),
                    .init(field: "title", message: "too long"), .init(field: "title", message: "no name"),
                ]
            ),
            (#""none""#, []),
        ]
        for form in forms {
            let body = #"{"success":false,"message":"no","errors":\#(form.json)}"#
            let client =
                inEnvelope
                ? answering(body, status: 422, envelope: ResponseEnvelope())
                : NetworkClient(
                    baseURL: "https://api.example.com",
                    transport: StubTransport { _ in
                        .json(body, status: 422, headers: [.contentType: "application/problem+json"])
                    })
            guard case .api(_, let refusal) = await client.failure(User.self) else {
                Issue.record("\(form.json) was not recognized")
                continue
            }
            #expect(refusal.errors == form.errors)
        }
    }

    @Test(
        "with an envelope, a page or half a response is no success of a call that ignores the body",
        arguments: [
            ("\u{FEFF}<html>Sign in</html>", false), (#"{"success":tr"#, false), (#"{"ok":1}"#, true), ("OK", true),
        ])
    func noContent(body: String, isAccepted: Bool) async throws {
        let api = client(StubTransport { _ in .json(body) }) { $0.envelope = ResponseEnvelope() }
        let failure = await error { try await api.send(Get("/a", .none)) }
        guard !isAccepted else {
            #expect(failure == nil)
            return
        }
        guard case .decoding? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        // Without an envelope, the body does not matter.
        try await client(StubTransport { _ in .json(body) }).send(Get("/a", .none))
    }

    @Test("C65: an empty body decodes into an optional or an empty response", arguments: [(204, ""), (200, "")])
    func empty(status: Int, body: String) async throws {
        let client = answering(body, status: status)
        try await client.send(Get("/a", .none))
        let nothing: NoContent = try await client.send(Get("/a", .none))
        #expect(nothing == NoContent())
        let user: User? = try await client.send(Get("/a", .none))
        #expect(user == nil)
        guard case .decoding(let call, let failure) = await client.failure(User.self) else {
            Issue.record("an empty body decoded into a User")
            return
        }
        #expect(failure.type == "User")
        #expect(
            "\(NetworkError.decoding(call, failure))".contains(
                "is not a valid User: there is no JSON value."))
    }

    @Test("a decoding error names the coding path, the reason and the endpoint, and shows no secret") func decoding()
        async throws
    {
        let body = #"{"users":[{"name":"Ada"},{"name":7}],"accessToken":"eyJhbGciOiJIUzI1NiJ9.e30.abcdef"}"#
        let failure = await answering(body).failure(Users.self)
        let text = try #require(failure.map { "\($0)" })
        #expect(text.contains("users[1].name"))
        #expect(text.hasPrefix("GET https://api.example.com/a: "))
        #expect(text.contains(#""name":7"#))
        #expect(!text.contains("eyJ"))
    }

    @Test(
        "a body that is not JSON is an error with an excerpt",
        arguments: ["<html>Hello</html>", "{", "\u{0}\u{1}", "null"])
    func garbage(body: String) async throws {
        guard case .decoding = await answering(body).failure(User.self) else {
            Issue.record("garbage decoded into a User")
            return
        }
    }

    @Test("the error of a body that cannot be decoded is one sentence, and the body follows it")
    func sentences() async {
        let reasons = [
            "Hello": "The given data was not valid JSON",
            "<html>Hello</html>": "the body is HTML or XML, perhaps of a proxy or a captive portal",
            #"{"name":"Ada","since":"today"}"#: #""today" is not an ISO 8601 date at since"#,
        ]
        for (body, reason) in reasons {
            let failure = await answering(body).failure(User.self)
            #expect(
                failure?.description
                    == "GET https://api.example.com/a: the response (200) is not a valid User: \(reason). "
                    + "Its body starts with: \(body)")
        }
    }

    @Test("an error names the setting or the function that reads such a body") func advice() async throws {
        let body = #"{"success":true,"code":"OK","data":{"name":"Ada"}}"#
        let enveloped = await answering(body, status: 200, envelope: nil).failure(User.self)
        #expect(enveloped?.description.contains("NetworkConfig.envelope") == true, "\(String(describing: enveloped))")
        let text = await answering("pong", status: 200, envelope: nil).failure(String.self)
        #expect(text?.description.contains("data(for:)") == true, "\(String(describing: text))")
    }

    @Test("an error has the status of its response, whether or not the server has explained it")
    func status() async {
        let bodies: [(text: String, type: String, isExplained: Bool)] = [
            (#"{"success":false,"code":"GONE","message":"No such article","data":null}"#, "application/json", true),
            (#"{"title":"No such article","detail":"It was deleted"}"#, "application/problem+json", true),
            ("No such article", "text/plain", false),
            ("", "text/plain", false),
        ]
        for body in bodies {
            let transport = StubTransport { _ in
                StubTransport.Response(404, headers: [.contentType: body.type], body: Data(body.text.utf8))
            }
            let failure = await client(transport) { $0.envelope = ResponseEnvelope() }.failure(User.self)
            #expect(failure?.status == 404)
            let isExplained = if case .api = failure { true } else { false }
            #expect(isExplained == body.isExplained, "\(body.text)")
        }
    }

    @Test("a response over the size limit is not read into memory") func tooLarge() async throws {
        let transport = StubTransport { _ in .json("[" + String(repeating: "1,", count: 5000) + "1]") }
        let client = client(transport) { $0.maximumResponseBytes = 1000 }
        guard case .responseTooLarge(_, 1000) = await client.failure([Int].self) else {
            Issue.record("the response exceeded the limit and was accepted")
            return
        }
    }

    @Test("a response reports its status, header fields, attempts and timings") func response() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport { request in
            time.advance(by: .milliseconds(40))
            return request.number == 1
                ? .status(503)
                : .json(#"{"name":"Ada"}"#, status: 201, headers: [.eTag: "x"])
        }
        let client = client(transport) {
            $0.time = time
            $0.retry = RetryPolicy(firstDelay: .zero)
        }
        let response = try await client.response(for: Profile())
        #expect(response.value.name == "Ada")
        #expect(response.status == 201)
        #expect(response.headers[.eTag] == "x")
        #expect(response.attempts == 2)
        #expect(response.duration == .milliseconds(80))
    }

    @Test("raw bytes are returned unchanged") func bytes() async throws {
        let response = try await answering("{not json", envelope: ResponseEnvelope()).data(for: Get("/a", .none))
        #expect(response.value == Data("{not json".utf8))
    }

    private func answering(
        _ body: String, status: Int = 200, envelope: ResponseEnvelope? = nil,
        decoder: any ResponseDecoder = JSONDecoder.martlet
    ) -> NetworkClient {
        client(StubTransport { _ in .json(body, status: status) }) {
            $0.envelope = envelope
            $0.decoder = decoder
            $0.retry = .never
        }
    }
}

private struct PropertyLists: ResponseDecoder {
    func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        try PropertyListDecoder().decode(type, from: body)
    }
}

private struct User: Decodable, Sendable {
    var name: String
    var since: Date?
}

private struct Users: Decodable, Sendable {
    var users: [User]
}

private struct Profile: APIRequest {
    typealias Response = User
    let path: RequestPath = "/me"
}

extension NetworkClient {
    fileprivate func failure<Value: Decodable & Sendable>(_ type: Value.Type) async -> NetworkError? {
        await error { _ = try await self.send(Get("/a", .none), as: type) }
    }
}
