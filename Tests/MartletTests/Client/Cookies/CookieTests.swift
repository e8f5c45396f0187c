import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Cookies of a jar", .timeLimit(.minutes(10))) struct CookieTests {
    private let time = ManualTimeSource()

    /// The cookies that a second request sends after the first one has set cookies.
    private func sent(
        _ cookies: [String], by first: String = "https://api.example.com/a/b", to second: String, after seconds: Int = 0
    ) async throws -> String? {
        var head = HTTPFields()
        for cookie in cookies { head.append(HTTPField(name: .setCookie, value: cookie)) }
        let transport = StubTransport { [head] request in
            request.number == 1 ? .status(200, headers: head) : .status(200)
        }
        let client = client(transport) {
            $0.cookies = CookieJar()
            $0.time = time
            $0.allowsInsecureHTTP = true
        }
        _ = try await client.text(Visit(first))
        time.advance(by: .seconds(seconds))
        _ = try await client.text(Visit(second))
        return transport.requests.last?.headers[.cookie]
    }

    @Test(
        "a cookie goes to the host, the path and the scheme that it is for",
        arguments: [
            ("a=1", "https://api.example.com/a/c", true), ("a=1", "https://api.example.com/a", true),
            ("a=1", "https://api.example.com/ab", false), ("a=1", "https://api.example.com/", false),
            ("a=1", "https://www.example.com/a/", false), ("a=1", "https://v.api.example.com/a/", false),
            ("a=1; Path=/", "https://api.example.com/", true), ("a=1; path=a", "https://api.example.com/a/x", true),
            ("a=1; Path=/x", "https://api.example.com/x", true), ("a=1; Path=/x", "https://api.example.com/xy", false),
            ("a=1; Path=/x/", "https://api.example.com/x", false),
            ("a=1; Path=/x", "https://api.example.com/x?y", true),
            ("a=1; Domain=example.com; Path=/", "https://www.example.com/", true),
            ("a=1; domain=.EXAMPLE.com; Path=/", "https://example.com/", true),
            ("a=1; Domain=example.com; Path=/", "https://badexample.com/", false),
            ("a=1; Domain=api.example.com; Path=/", "https://v.api.example.com/", true),
            ("a=1; Domain=; Path=/", "https://api.example.com/", true),
            ("a=1; Domain=.; Path=/", "https://api.example.com/", true),
            ("a=1; Domain=; Path=/", "https://v.api.example.com/", false),
            ("a=1; Path=/", "http://api.example.com/", true), ("a=1; Path=/; secure", "http://api.example.com/", false),
            ("a=1; Path=/; Secure=no", "https://api.example.com/", true),
            ("a=1; Path=/", "https://api.example.com:8443/", true),
        ])
    func recipients(cookie: String, url: String, isSent: Bool) async throws {
        #expect(try await sent([cookie], to: url) == (isSent ? "a=1" : nil))
    }

    @Test(
        "a cookie that its server may not set, or that is no cookie, is ignored",
        arguments: [
            "a=1; Domain=com", "a=1; Domain=other.com", "a=1; Domain=v.api.example.com", "a=1; Domain=ample.com",
            "__Host-a=1", "__host-a=1; Path=/", "__Host-a=1; Secure; Path=/a",
            "__Host-a=1; Secure; Path=/; Domain=api.example.com", "__Secure-a=1", "=1", "a", "", ";", "; ; =",
            "\u{7F}=1",
            "a=1; Max-Age=0", "a=1; Max-Age=0; Max-Age=x", "a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Expires=x",
            "a=1; Max-Age=-99999999999999999999", "a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT",
            String(repeating: "a", count: 4096) + "=1",
        ])
    func refused(cookie: String) async throws {
        #expect(try await sent([cookie], to: "https://api.example.com/a/b") == nil)
    }

    @Test("a cookie is not set for a top-level domain with a final dot") func finalDot() async throws {
        let cookie = "a=1; Domain=com.; Path=/"
        #expect(try await sent([cookie], by: "https://other.com./", to: "https://example.com./") == nil)
    }

    @Test(
        "cookies with odd attributes are kept",
        arguments: [
            "a=1; Expires=garbage", "a=1; Max-Age=soon", "a=1; Max-Age=", "a=1;;;=;= ; SameSite=Odd; HttpOnly; x=\"y",
            "a=1; Expires=Thu, 31 Feb 2099 00:00:00 GMT", "a=1; Expires=1", "a = 1 ", "a=1; Path", "a=1; Path=x",
            "a=1; Max-Age=99999999999999999999999", "a=1; Max-Age=10; Expires=Sun, 06 Nov 1994 08:49:37 GMT",
            "a=1; Expires=Sunday, 06-Nov-94 08:49:37 GMT; Expires=Fri Nov  6 08:49:37 2099",
            "a=1; Domain=v.api.example.com; Domain=" + String(repeating: "x", count: 2000) + "; Domain=example.com",
        ])
    func odd(cookie: String) async throws {
        #expect(try await sent([cookie], to: "https://api.example.com/a/b") == "a=1")
    }

    @Test("name prefixes are accepted if their conditions are met") func prefixes() async throws {
        let cookies = ["__Secure-a=1; Secure; Path=/", "__Host-b=2; Secure; Path=/"]
        #expect(try await sent(cookies, to: "https://api.example.com/") == "__Secure-a=1; __Host-b=2")
    }

    @Test("a cookie expires, and none lasts longer than 400 days") func expiry() async throws {
        let url = "https://api.example.com/a/b"
        let soon = "a=1; Expires=Mon, 21-Sep-26 14:13:30 GMT"
        #expect(try await sent([soon], to: url, after: 9) == "a=1")
        time.setWallClock(Date(timeIntervalSince1970: 1_790_000_000))
        #expect(try await sent([soon], to: url, after: 10) == nil)
        #expect(try await sent(["a=1; Max-Age=10"], to: url, after: 9) == "a=1")
        #expect(try await sent(["a=1; Max-Age=10"], to: url, after: 10) == nil)
        for cookie in ["a=1; Max-Age=999999999", "a=1; Expires=Fri, 06 Nov 2099 08:49:37 GMT"] {
            #expect(try await sent([cookie], to: url, after: 400 * 86400 - 1) == "a=1")
            #expect(try await sent([cookie], to: url, after: 400 * 86400) == nil)
        }
    }

    @Test("longer paths come first, a new value keeps its place, and an expired one deletes") func order() async throws
    {
        let cookies = ["a=1; Path=/", "b=2", "c=3; Path=/", "a=4; Path=/", "d=5", "d=; Max-Age=0"]
        #expect(try await sent(cookies, to: "https://api.example.com/a/b") == "b=2; a=4; c=3")
    }

    @Test("an origin without encryption sets no secure cookie, and replaces none") func plain() async throws {
        let url = "http://api.example.com/a/b"
        #expect(try await sent(["a=1; Secure"], by: url, to: "https://api.example.com/a/b") == nil)
        let transport = StubTransport { request in
            switch request.number {
            case 1: .status(200, headers: [.setCookie: "a=1; Secure; Path=/"])
            case 2: .status(200, headers: [.setCookie: "a=2; Path=/a"])
            default: .status(200)
            }
        }
        let client = client(transport) {
            $0.cookies = CookieJar()
            $0.allowsInsecureHTTP = true
        }
        for url in ["https://api.example.com/", url, "https://api.example.com/a"] {
            _ = try await client.text(Visit(url))
        }
        #expect(transport.requests.last?.headers[.cookie] == "a=1")
    }

    @Test("an IP address matches only itself") func addresses() async throws {
        let cookie = "a=1; Path=/; Domain=127.0.0.1"
        #expect(try await sent([cookie], by: "http://127.0.0.1/", to: "http://127.0.0.1/") == "a=1")
        #expect(try await sent(["a=1; Path=/; Domain=0.0.1"], by: "http://127.0.0.1/", to: "http://127.0.0.1/") == nil)
        #expect(try await sent(["a=1; Secure"], by: "http://localhost/", to: "http://localhost/") == "a=1")
    }

    @Test("many servers cannot fill the memory") func manyDomains() async throws {
        var head = HTTPFields()
        for number in 0..<100 { head.append(HTTPField(name: .setCookie, value: "c\(number)=1; Path=/")) }
        let transport = StubTransport { [head] request in .status(200, headers: request.number <= 11 ? head : [:]) }
        let client = client(transport) { $0.cookies = CookieJar() }
        for number in Array(1...11) + [1, 2] {
            _ = try await client.text(Visit("https://host\(number).example.com/"))
        }
        let counts = transport.requests.suffix(2).map { $0.headers[.cookie]?.split(separator: ";").count }
        #expect(counts == [nil, 100])
    }

    @Test("a server cannot fill the memory") func limits() async throws {
        let cookies = (0..<300).map { "c\($0)=1" }
        let text = try #require(try await sent(cookies, to: "https://api.example.com/a/b"))
        #expect(text.split(separator: ";").count == 100)
        #expect(text.hasSuffix("c299=1"))
    }
}
