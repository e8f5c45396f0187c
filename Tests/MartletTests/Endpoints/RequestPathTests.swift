internal import Foundation
import MartletTesting
internal import Testing

@testable import Martlet

@Suite("Interpolated paths", .timeLimit(.minutes(10)))
struct RequestPathTests {
    @Test("a query or a fragment in the literal is refused, and named values keep theirs", arguments: ["?", "#"])
    func queryInLiteral(mark: String) {
        let path: RequestPath = mark == "?" ? "/search?q=x" : "/search#top"
        #expect(path.problem?.description.contains("Put a query into the endpoint's query") == true)
        let (name, raw): (RequestPath, RequestPath) = ("/files/\("what" + mark)", "/files/\(raw: "what" + mark)")
        #expect(name.problem == nil && raw.problem == nil)
        let secret: RequestPath = "/login?password=\("ab&hunter2")"
        #expect(secret.problem?.description.contains("hunter2") == false)
    }

    @Test(
        "an interpolated value is data of one segment",
        arguments: [
            ("ada", "ada"), ("a/b", "a%2Fb"), ("?q=1", "%3Fq%3D1"), ("#top", "%23top"), ("50%", "50%25"),
            ("%2e%2e", "%252e%252e"), ("%2F", "%252F"), ("a b", "a%20b"), ("ü", "%C3%BC"), ("a;b", "a%3Bb"),
            ("https://evil.example", "https%3A%2F%2Fevil.example"), ("\r\nX: y", "%0D%0AX%3A%20y"),
            ("a\\b", "a%5Cb"), ("\0", "%00"), ("a..b", "a..b"), ("...", "..."), ("@me", "%40me"), ("\u{301}", "%CC%81"),
        ])
    func values(value: String, encoded: String) throws {
        #expect(try target("/users/\(value)/posts") == "/v1/users/\(encoded)/posts")
        #expect(try target("/users/\(value)") == "/v1/users/\(encoded)")
        #expect(try target("\(value)") == "/v1/\(encoded)")
        #expect(PercentEncoding.decode(encoded) == value)
    }

    @Test(
        "a value that no encoding can keep in its place fails the call",
        arguments: [
            "", ".", "..", "../admin", "a/../b", "..\\admin", "./", "/..", "..;x", "a/..",
        ])
    func rejected(value: String) async throws {
        for path: RequestPath in ["/users/\(value)/posts", "/users/\(value)", "\(value)", "/users/\(value)/"] {
            #expect(throws: InvalidRequestError.self) { try target(path) }
        }
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport)
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(Call<NoContent>.delete("/users/\(value)"))
        }
        guard case .invalidRequest = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(transport.requests.isEmpty)
    }

    @Test("literals and values cannot form dots, escapes, slashes or URLs together")
    func combinations() throws {
        let (dot, hex, slash, https) = (".", "2F..", "/", "https")
        #expect(throws: InvalidRequestError.self) { try target("/a/.\(dot)/b") }
        #expect(throws: InvalidRequestError.self) { try target("/a/\(dot)\(dot)") }
        #expect(throws: InvalidRequestError.self) { try target("/a/%2e\(dot)") }
        #expect(try target("/a/%\(hex)") == "/v1/a/%252F..")
        #expect(try target("/a/%2\("F")") == "/v1/a/%252F")
        #expect(try target("\(slash)\(slash)evil.example") == "/v1/%2F%2Fevil.example")
        #expect(throws: InvalidRequestError.self) { try target("\(https)://evil.example/") }
        #expect(throws: InvalidRequestError.self) { try target("/\(raw: "/evil.example")") }
    }

    @Test("an empty value is allowed where the rest of its segment is not empty")
    func emptyValues() throws {
        let none = ""
        #expect(try target("/files/\(none)report\(none).pdf") == "/v1/files/report.pdf")
        #expect(try target("/files/\(none)\("a")") == "/v1/files/a")
        #expect(try target("/files/report\(none)") == "/v1/files/report")
        #expect(try target("/files/report\(none)/pages") == "/v1/files/report/pages")
        #expect(try target("/files/\(raw: none)") == "/v1/files/")
    }

    @Test("numbers, booleans, UUIDs and raw values can be interpolated")
    func types() throws {
        enum Section: String {
            case news = "news/today"
            case sport
        }
        enum Page: Int { case first = 1 }
        struct ID: RawRepresentable, LosslessStringConvertible {
            var rawValue: String
            var description: String { "another text" }
            init(rawValue: String) { self.rawValue = rawValue }
            init?(_ description: String) { nil }
        }
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(try target("/a/\(7)/\(true)/\(2.5)") == "/v1/a/7/true/2.5")
        #expect(try target("/a/\(Section.news)/\(Page.first)") == "/v1/a/news%2Ftoday/1")
        #expect(try target("/a/\(id)") == "/v1/a/E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(try target("/a/\(ID(rawValue: "x"))/\("abc".prefix(2))") == "/v1/a/x/ab")
    }

    @Test("a raw text is encoded like a literal")
    func raw() throws {
        #expect(try target("/files/\(raw: "a/b%20c d?")") == "/v1/files/a/b%20c%20d%3F")
        #expect(throws: InvalidRequestError.self) { try target("/files/\(raw: "../x")") }
    }

    @Test("an absolute URL needs its own function")
    func absolute() throws {
        let link = "https://cdn.example.com/a?b=c"
        for path: RequestPath in ["https://cdn.example.com/a", "\(raw: link)", "http://\("h")"] {
            let error = #expect(throws: InvalidRequestError.self) { try target(path) }
            #expect(error?.description.contains(".absolute(") == true)
        }
        #expect(try location(.absolute(link)).authority == "cdn.example.com")
        #expect(try target(.absolute(link)) == "/a?b=c")
    }

    @Test("a path below another base URL is encoded")
    func below() throws {
        let name = "a/b?c"
        let found = try location(.absolute("/files/\(name)", below: "https://cdn.example.com:8443/v2"))
        #expect(found.authority == "cdn.example.com:8443")
        #expect(found.target == "/v2/files/a%2Fb%3Fc")
        let up = ".."
        #expect(throws: InvalidRequestError.self) {
            try location(.absolute("/files/\(up)", below: "https://cdn.example.com"))
        }
        #expect(throws: InvalidRequestError.self) { try location(.absolute("/files", below: "nowhere")) }
    }

    @Test("a URL that must be below a base URL is used unchanged")
    func within() throws {
        for (url, expected) in [
            ("https://cdn.example.com/v2/files/a%2Fb?ids=1,2&next=/../x", "/v2/files/a%2Fb?ids=1,2&next=/../x"),
            ("https://cdn.example.com:443/v2", "/v2"), ("https://cdn.example.com/v2/..a", "/v2/..a"),
        ] {
            #expect(try target(.absolute(url, within: "https://cdn.example.com/v2")) == expected)
        }
        #expect(try target(.absolute("https://h/a", within: "https://h")) == "/a")
        #expect(try target(.absolute("https://h/v1/a", within: "https://h/v1/")) == "/v1/a")
    }

    @Test(
        "a URL that must be below a base URL cannot leave it",
        arguments: [
            "https://cdn.example.com/v2/files/../admin", "https://cdn.example.com/v2/%2e%2E/v1",
            "https://cdn.example.com/v2/.",
            "https://cdn.example.com/v2/a%2f..%2fb", "https://cdn.example.com/v2/..;x/y", "https://cdn.example.com/v22",
            "https://cdn.example.com/", "https://cdn.example.com.evil.example/v2/", "http://cdn.example.com/v2/a",
            "https://cdn.example.com:8443/v2/a", "/v2/a", "",
        ])
    func leaving(url: String) {
        let path = RequestPath.absolute(url, within: "https://cdn.example.com/v2")
        #expect(throws: InvalidRequestError.self) { try target(path) }
    }

    @Test("a path shows no token, and a problem does not either")
    func redaction() {
        let token = "q8Zk3Vt1Lx9Rb7Yw2Np5Hd6Mf4Jc0Gs8EaTi"
        let path: RequestPath = "/reset/\(token)/confirm"
        #expect("\(path)" == "/reset/<redacted>/confirm")
        let empty = ""
        for broken: RequestPath in ["/x/\(token)/\(empty)", "/x/\(token)/..", "https://h/\(token)"] {
            let error = #expect(throws: InvalidRequestError.self) { try target(broken) }
            #expect(error?.description.contains(token) == false)
        }
    }
}

private func location(_ path: RequestPath) throws -> Location {
    try BaseURL("https://api.example.com/v1").location.get().appending(path, query: [:])
}

private func target(_ path: RequestPath) throws -> String {
    try location(path).target
}
