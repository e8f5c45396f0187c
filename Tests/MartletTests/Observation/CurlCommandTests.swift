import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("curl commands", .timeLimit(.minutes(10))) struct CurlCommandTests {
    private func request(
        _ method: HTTPRequest.Method = .get, _ path: String = "/a", _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "api.example.com", path: path, headerFields: fields)
    }

    @Test("contains no more options than needed") func plain() {
        #expect(request().curlCommand() == "curl https://api.example.com/a")
        #expect(request(.head).curlCommand() == "curl --head https://api.example.com/a")
        #expect(request(.delete).curlCommand() == "curl --request DELETE https://api.example.com/a")
        #expect(request(.get, "/a?b=c&d=e").curlCommand() == "curl 'https://api.example.com/a?b=c&d=e'")
        #expect(request(.get, "/a[1]/../b").curlCommand().hasPrefix("curl --globoff --path-as-is '"))
        #expect(
            request(.get, "/a", [.accept: "text/html", .init("X-Empty")!: ""]).curlCommand()
                == "curl https://api.example.com/a --header 'Accept: text/html' --header 'X-Empty;'")
    }

    @Test("masks the token that an endpoint puts into a field of its own") func tokenElsewhere() async throws {
        let app = try await App.signedIn()
        let call = Call<NoContent>.get("/me", headers: [.init("X-Ticket")!: "access-1"])
        #expect(try app.client.curlCommand(for: call).contains("X-Ticket: <redacted>"))
    }

    @Test("shows a text up to a limit, and a file name for other bytes") func bodies() throws {
        let json = request(.post, "/a", [.contentType: "application/json"])
        #expect(
            json.curlCommand(body: Data(#"{"it's":1}"#.utf8))
                == #"curl --request POST https://api.example.com/a --header 'Content-Type: application/json' --data-raw '{"it'\''s":1}'"#
        )
        let long = json.curlCommand(body: Data(#"[1,2]"#.utf8), textLimit: 4)
        #expect(long.hasSuffix("--data-binary @request-body.json"))
        let bytes = request(.put).curlCommand(body: Data([0xFF]))
        #expect(bytes.hasSuffix("--header Content-Type: --data-binary @request-body.bin"))
        #expect(request(.put).curlCommand(body: Data([0])).hasSuffix("--data-binary @request-body.bin"))
        #expect(request(.put).curlCommand(body: Data()).hasSuffix("--data-raw ''"))
        #expect(
            request(.put, "/a", [.contentType: "text/csv"]).curlCommand(body: Data("\u{1B}[2J".utf8))
                .hasSuffix("@request-body.txt"))
        // `--data-raw` keeps curl from reading the body as a file name.
        #expect(request(.put).curlCommand(body: Data("@/etc/passwd".utf8)).hasSuffix("--data-raw @/etc/passwd"))
    }

    @Test(
        "masks secrets in every position",
        arguments: [jwt, "rt_Zk3-x9Qm2vB7_LpW4sT8yHcN1dR6fJ0aGe5uKiOoXbM"])
    func secrets(token: String) throws {
        var fields: HTTPFields = [.authorization: "Bearer \(token)", .cookie: "a=\(token)", .accept: "*/*"]
        fields.setSensitive("hunter2", for: try #require(.init("X-Own")))
        let encoded = token.replacing("-", with: "%2D").replacing("_", with: "%5F").replacing("e", with: "%65")
        for path in [
            "/me?access_token=\(token)", "/reset/\(token)/x", "/me?next=https%3A%2F%2Fx%2F%3Ft%3D\(encoded)",
            "/\(encoded)", "/me?\(encoded)", "/me?x=\(encoded)",
        ] {
            let text = request(.get, path, fields).curlCommand()
            #expect(!text.contains(token) && !text.contains(encoded) && !text.contains("hunter2"), "\(text)")
            #expect(text.contains("Accept: */*"))
        }
        for (type, body) in [
            ("application/json", #"{"refreshToken":"\#(token)","password":"hunter2","page":7}"#),
            ("application/json", #"{"note":"\#(token.prefix(24))\/\#(token.suffix(12))","pin":"hunter2","page":7}"#),
            ("application/x-www-form-urlencoded", "grant_type=x&refresh_token=\(encoded)&p%61ssword=hunter2&page=7"),
            ("text/plain", "page 7, Bearer \(token), password: hunter2"),
        ] {
            let text = request(.post, "/a", [.contentType: type]).curlCommand(body: Data(body.utf8))
            #expect(!text.contains(token) && !text.contains(encoded) && !text.contains("hunter2"), "\(text)")
            #expect(!text.contains(token.prefix(24)) && !text.contains(token.suffix(12)), "\(text)")
            #expect(text.contains("7"))
        }
    }

    @Test(
        "masks tokens anywhere in a query, and UUIDs in secret parameters",
        arguments: [
            ("/a?Zk3x9Qm2vB7LpW4sT8yHcN1dR6f=1&page=2", "/a?<redacted>=1&page=2"),
            ("/a?Zk3x9Qm2vB7LpW4sT8yHcN1dR6f==", "/a?<redacted>=="),
            ("/a?t=Zk3x9Qm2vB7Lp+W4sT8yHcN1dR6f&page=2", "/a?t=<redacted>&page=2"),
            ("/a?code=6ba7b810-9dad-11d1-80b4-00c04fd430c8&page=2", "/a?code=<redacted>&page=2"),
        ])
    func queries(path: String, shown: String) {
        #expect(Redaction.redactTarget(path) == shown)
        #expect(!request(.get, path).curlCommand().contains("W4sT8yHcN1dR6f"))
    }

    @Test("masks the user info of a URL, and secrets in fields with harmless names")
    func fields() throws {
        let identity = try #require(HTTPField.Name("X-Identity"))
        var request = request(
            .get, "/a", [identity: jwt, .referer: "https://example.com/?token=hunter2", .ifNoneMatch: #""\#(opaque)""#])
        request.authority = "ada:hunter2@api.example.com"
        let text = request.curlCommand()
        #expect(!text.contains(jwt) && !text.contains("hunter2"), "\(text)")
        #expect(text.contains("@api.example.com/a") && text.contains(opaque))
    }

    @Test("masks the secret parts of a redirect's URL") func redirects() {
        #expect(
            Redaction.redactURL("https://ada:pw@service-12345.eu-west-1.example.com/cb?signature=short&page=2#a")
                == "https://<redacted>@service-12345.eu-west-1.example.com/cb?signature=<redacted>&page=2#a")
        #expect(!Redaction.redactURL("https://example.com/cb#access_token=hunter2").contains("hunter2"))
        #expect(Redaction.redactURL("https://example.com?page=2") == "https://example.com?page=2")
        #expect(Redaction.redactURL("/a?pwd=hunter2") == "/a?pwd=<redacted>")
    }

    @Test("omits multipart forms, because a part's name is on another line than its value") func forms() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n--b--\r\n"
        let text = request(.post, "/a", [.contentType: "multipart/form-data; boundary=b"])
            .curlCommand(body: Data(body.utf8))
        #expect(text.hasSuffix("--data-binary @request-body.bin"))
    }

    @Test(
        "keeps ids and titles readable",
        arguments: [
            "/articles/2024-the-long-way-home-to-linux", "/users/6BA7B810-9DAD-11D1-80B4-00C04FD430C8/picture",
            "/films/12345678901234567890", "/a?id=6ba7b810-9dad-11d1-80b4-00c04fd430c8&tag=a+b", "/", "", "/a?", "/a?b",
            "//a//",
        ])
    func ordinary(path: String) {
        #expect(path.isEmpty || request(.get, path).curlCommand().contains(path))
        #expect(Redaction.redactTarget(path) == path)
    }

    @Test("is quoted so that a shell reads the same bytes") func quoting() throws {
        var dice = SeededGenerator(seed: 6)
        var words = (1..<128).compactMap { Unicode.Scalar($0).map(String.init) }
        words += ["", "'", "''", "a'b'c", "-n", "$(touch x)", "`id`", "!!", "\\", "a\\\n", "ä€👩‍🚀"]
        words += ["\u{FEFF}", "~", "*", "\r\n"]
        for _ in 0..<300 {
            let scalars = (0..<dice.number(below: 12)).compactMap { _ in
                Unicode.Scalar(dice.isTrue(inPercent: 80) ? 1 + dice.number(below: 127) : dice.number(below: 0x2_0000))
            }
            words.append(String(String.UnicodeScalarView(scalars.filter { $0 != "\0" })))
        }
        let script = "printf '%s\\000' " + words.map(CurlCommand.quote).joined(separator: " ")
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", script]
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        let read = output.fileHandleForReading.readDataToEndOfFile()
        shell.waitUntilExit()
        let expected = words.map { Data($0.utf8) }
        #expect(read.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Data($0) } == expected)
        #expect(CurlCommand.quote("a\0b") == "ab")
    }

    @Test("is written per attempt by an observer, and per endpoint by a client") func observed() async throws {
        struct Login: APIEndpoint {
            let path: RequestPath = "/login"
            let method = HTTPRequest.Method.post
            var body: RequestBody? { .json(["password": "hunter2", "name": "ada"]) }
        }
        let lines = Locked<[String]>([])
        let transport = StubTransport()
        transport.when(Login()).respond(.status(204))
        transport.when(.post, "/file").respond(.status(204))
        var config = NetworkConfig()
        config.encoder.outputFormatting = .sortedKeys
        config.observers = [.curl { line in lines.withLock { $0.append(line) } }]
        let tokens = await TokenManager.signedIn(with: .fresh(), transport: transport, time: ManualTimeSource())
        let client = NetworkClient(tokens: tokens, config: config)
        try await client.send(Login())
        let stream = RequestBody.stream(length: 3, contentType: "text/plain") { ByteStream(Data("abc".utf8)) }
        try await client.send(Call<NoContent>.post("/file", stream))
        let login = #"--data-raw '{"name":"ada","password":"<redacted>"}'"#
        let seen = lines.withLock { $0 }
        #expect(seen.count == 2)
        #expect(seen[0].hasSuffix(login) && seen[0].contains("'Authorization: <redacted>'"), "\(seen[0])")
        #expect(seen[1].hasSuffix("--data-binary @request-body.txt"))
        let command = try client.curlCommand(for: Login())
        #expect(command.hasPrefix("curl --request POST https://api.example.com/login ") && command.hasSuffix(login))
        #expect(throws: NetworkError.self) { try client.curlCommand(for: Call<NoContent>.get("/a/../b")) }
    }

    @Test("the type that the endpoint sets itself decides whether its body is shown") func ownType() throws {
        let part = "--x\r\nContent-Disposition: form-data; name=password\r\n\r\nhunter2\r\n--x--\r\n"
        var call = Call<NoContent>.post("/form", .bytes(Data(part.utf8)))
        call.headers[.contentType] = "multipart/form-data; boundary=x"
        let command = try NetworkClient(baseURL: "https://api.example.com").curlCommand(for: call)
        #expect(!command.contains("hunter2") && command.contains("multipart/form-data"))
    }
}

private let opaque = "33a64df551425fcc55e4d42a148795d9f25f89d4"
private let jwt = UnsignedJWT.make(claims: #"{"sub":"ada","exp":1790000000}"#).reveal()

extension HTTPRequest {
    fileprivate func curlCommand(body: Data? = nil, textLimit: Int = 4096) -> String {
        let body = body.map {
            ObservedBody(contentType: headerFields[.contentType], length: Int64($0.count), bytes: $0)
        }
        return CurlCommand(redacted, body, textLimit: textLimit).text
    }
}
