internal import Foundation
internal import Testing

@testable import Martlet

@Suite("Endpoint paths", .timeLimit(.minutes(10)))
struct PathTests {
    @Test(
        "a path is appended to the base URL",
        arguments: [
            ("https://h/v1", "/articles", "/v1/articles"), ("https://h/v1/", "articles", "/v1/articles"),
            ("https://h/v1/", "/articles/", "/v1/articles/"), ("https://h", "articles", "/articles"),
            ("https://h/", "", "/"), ("https://h", "", "/"), ("https://h/v1", "", "/v1"),
            ("https://h/v1/", "", "/v1/"), ("https://h/v1", "/", "/v1/"), ("https://h", "a//b", "/a//b"),
        ])
    func joining(base: String, path: String, target: String) throws {
        #expect(try location(base, "\(raw: path)").target == target)
    }

    @Test(
        "reserved characters are escaped, and existing escapes are kept",
        arguments: [
            ("/a b", "/a%20b"), ("/what?", "/what%3F"), ("/c#", "/c%23"), ("/50%", "/50%25"), ("/50%2", "/50%252"),
            ("/%41%2f", "/%41%2f"), ("/ü", "/%C3%BC"), ("/a+b&c=d;e,f@g:h!$'()*", "/a+b&c=d;e,f@g:h!$'()*"),
            ("/[x]|\\\"", "/%5Bx%5D%7C%5C%22"), ("/a\r\nX: y", "/a%0D%0AX:%20y"), ("/\0", "/%00"),
            ("/...", "/..."), ("/.well-known", "/.well-known"), ("/a..b/..c", "/a..b/..c"), ("/%2", "/%252"),
        ])
    func encoding(path: String, target: String) throws {
        #expect(try location("https://h", "\(raw: path)").target == target)
    }

    @Test(
        "the error for a base URL without a scheme says how to write one",
        arguments: ["localhost:8080", "api.example.com:443/v1"])
    func missingScheme(text: String) {
        #expect(throws: InvalidRequestError.self) { try location(text, "/a") }
        #expect("\(BaseURL(text).location)".contains("write https:// before it"))
    }

    @Test(
        "a path cannot leave the base URL",
        arguments: [
            "..", "../x", "/a/../b", "/.", "/a/./b", "/%2e%2e/x", "/%2E./x", "/.%2e", "/a%2f..%2fb", "/a\\..\\b",
            "/a%5c..", "/..\u{2F}\u{301}x", "/a/\u{301}/..", "/..;/x", "/..;v=1/x", "//evil.example/x", "//", "/a/..",
            "//\u{301}x",
        ])
    func leaving(path: String) {
        #expect(throws: InvalidRequestError.self) { try location("https://h/v1", "\(raw: path)") }
    }

    @Test("an absolute URL is used unchanged")
    func absolute() throws {
        let other = try location("https://h/v1", .absolute("HTTP://Cdn.Example:8080/a%20b?c=d#part"), ["e": "f"])
        #expect(other.target == "/a%20b?c=d&e=f")
        #expect(other.authority == "cdn.example:8080")
        #expect(other.origin == Origin(scheme: "http", host: "cdn.example", port: 8080))
        #expect(try location("https://h", .absolute("https://x.example/?"), ["a": 1]).target == "/?a=1")
        let url = try #require(URL(string: "https://x.example/b"))
        #expect(try location("https://h", .absolute(url)).target == "/b")
        // Characters that a URL must not contain are escaped. Valid escapes stay.
        for (link, target) in [
            ("https://x.example/%ED%95%9C/파일.jpg", "/%ED%95%9C/%ED%8C%8C%EC%9D%BC.jpg"),
            ("https://x.example/a?page[size]=10&q=a%20b|c#[%20", "/a?page%5Bsize%5D=10&q=a%20b%7Cc"),
            ("https://x.example?a=%zz", "/?a=%25zz"),
        ] {
            #expect(try location("https://h", .absolute(link)).target == target)
        }
    }

    @Test("a colon alone does not make a path a URL")
    func colons() throws {
        #expect(try location("https://h", "a:b").target == "/a:b")
        #expect(try location("https://h", "ftp://x").target == "/ftp://x")
        #expect(try location("https://h", "https:x").target == "/https:x")
    }

    @Test("an absolute URL with credentials is rejected")
    func absoluteWithCredentials() {
        #expect(throws: InvalidRequestError.self) { try location("https://h", .absolute("https://ada:pw@x.example/")) }
    }

    @Test("the query is appended to the path")
    func query() throws {
        #expect(try location("https://h/v1", "/a", ["q": "1+1"]).target == "/v1/a?q=1%2B1")
    }
}

@Suite("Base URLs", .timeLimit(.minutes(10)))
struct BaseURLTests {
    @Test(
        "an origin is in lower case, without a default port",
        arguments: [
            ("HTTPS://API.Example.com/v1", "https://api.example.com"), ("https://h:443", "https://h"),
            ("http://h:80/", "http://h"), ("http://h:443", "http://h:443"), ("https://h:8443", "https://h:8443"),
            ("http://[::1]:8080/x", "http://[::1]:8080"), ("https://[2001:DB8::1]", "https://[2001:db8::1]"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000"), ("https://h:/v1", "https://h"),
            ("https://XN--bcher-kva.example/v1", "https://xn--bcher-kva.example"),
        ])
    func origins(text: String, origin: String) {
        #expect(BaseURL(text).origin?.description == origin)
        #expect(Origin(text)?.description == origin)
    }

    @Test(
        "a base URL without a scheme gets a hint about both schemes",
        arguments: ["127.0.0.1:8080", "localhost:8080", "api.example.com", "//h/v1", "https:example.com"])
    func withoutScheme(text: String) {
        #expect(
            throws: InvalidRequestError(
                "\"\(text)\" is not an absolute URL; write https:// before it, or http:// for a server on this machine."
            )
        ) { try BaseURL(text).location.get() }
    }

    @Test(
        "an invalid base URL is rejected with a reason",
        arguments: [
            "", "api.example.com", "/v1", "//h/v1", "localhost:8080", "ftp://h", "https://", "https:///v1", "https:h",
            "https://h:0", "https://h:65536", "https://h:999999999999999999999", "https://h:-1", "https://h:x",
            "https://u@h", "https://u:p@h", "https://:p@h", "https://@h", "https://h/?q", "https://h?", "javascript:1",
            "https://exa mple.com", "https://h\r\nx", "https://[::1", "https://h%0d", "https://a\"b",
            "https://h\\@evil.example", "https://bücher.example\u{0}", "https://[zz]", "https://[]", "https://[1]",
            "https://b%C3%BC.example", "https://bücher.example", "https://h/..", "https://h/v1/../v2",
            "https://h/%2E%2e/a",
        ])
    func refused(text: String) throws {
        let base = BaseURL(text)
        #expect(base.origin == nil, "\(String(describing: base.location))")
        #expect(throws: InvalidRequestError.self) { try base.location.get() }
    }

    @Test("the error for a URL with credentials does not repeat them")
    func credentialsStaySecret() {
        for text in [
            "https://ada:hunter2@h/v1", "https://hunter2@h", "https://a:hunter2@h:99999", "ftp://a:hunter2@h",
            "https://a:hunter2@[", "https://h/?password=hunter2",
        ] {
            let base = BaseURL(text)
            guard case .failure(let problem) = base.location else {
                Issue.record("accepted")
                continue
            }
            #expect(!problem.description.contains("hunter2"), "\(problem)")
            var dumped = "\(base) "
            dump(base, to: &dumped)
            #expect(!dumped.contains("hunter2"), "\(dumped)")
        }
        #expect("\(BaseURL("https://api.example.com/v1"))" == "https://api.example.com/v1")
    }

    @Test(
        "loopback hosts are recognized, and plain HTTP is safe only there",
        arguments: [
            ("http://localhost:8080", true), ("http://app.localhost", true), ("http://127.8.9.10", true),
            ("http://[::1]", true), ("http://127.0.0.1.evil.example", false), ("http://localhost.evil.example", false),
            ("http://notlocalhost", false), ("http://128.0.0.1", false), ("http://10.0.0.1", false),
        ])
    func loopback(text: String, isLoopback: Bool) throws {
        let origin = try #require(Origin(text))
        #expect(origin.isLoopback == isLoopback)
        #expect(origin.isInsecure == !isLoopback)
        #expect(Origin("https://x.example")?.isInsecure == false)
    }

    @Test("a base URL can be made from a URL")
    func fromURL() throws {
        let url = try #require(URL(string: "https://h/v1"))
        #expect(BaseURL(url) == "https://h/v1")
    }
}

private func location(_ base: String, _ path: RequestPath, _ query: Query = [:]) throws -> Location {
    try BaseURL(base).location.get().appending(path, query: query)
}
