import Testing

@testable import Martlet

@Suite("Proxies", .timeLimit(.minutes(10)))
struct ProxyRulesTests {
    private static func proxy(_ environment: [String: String], _ scheme: String = "https") throws -> String? {
        try ProxyRules(environment: environment).server(scheme: scheme, host: "a.example", port: 443)
            .map { "\($0.kind) \($0.host) \($0.port)" }
    }

    @Test("Each scheme has its variable, and all_proxy stands in for a missing one")
    func variables() throws {
        #expect(try Self.proxy([:]) == nil)
        #expect(try Self.proxy(["https_proxy": "p.example:3128"]) == "http p.example 3128")
        #expect(try Self.proxy(["https_proxy": "p.example:3128"], "http") == nil)
        #expect(try Self.proxy(["HTTPS_PROXY": "http://P.example/"]) == "http p.example 80")
        #expect(try Self.proxy(["all_proxy": "socks5h://[::1]"], "http") == "socks5 ::1 1080")
        #expect(try Self.proxy(["all_proxy": "p.example:1", "https_proxy": "q.example:2"]) == "http q.example 2")
        #expect(try Self.proxy(["ALL_PROXY": "p.example:1", "HTTPS_PROXY": "q.example:2"]) == "http q.example 2")
        #expect(try Self.proxy(["all_proxy": "p.example:1", "https_proxy": ""]) == nil)
        #expect(try Self.proxy(["https_proxy": "", "HTTPS_PROXY": "p.example:1"]) == nil)
    }

    @Test("HTTP_PROXY in upper case is ignored, because a web server sets it to a field of its client")
    func httpoxy() throws {
        #expect(try Self.proxy(["HTTP_PROXY": "evil.example:1"], "http") == nil)
        #expect(try Self.proxy(["http_proxy": "p.example:1"], "http") == "http p.example 1")
    }

    @Test("User name and password are decoded, and never shown")
    func login() throws {
        let rules = try ProxyRules(environment: ["https_proxy": "http://us%40er:p%3Aa@ss@p.example:3128"])
        #expect(rules.https?.user == "us@er" && rules.https?.password?.reveal() == "p:a@ss")
        var text = "\(rules)"
        dump(rules, to: &text)
        dump(ProxySettings.http(host: "p.example", port: 1, user: "user", password: "p:a@ss"), to: &text)
        #expect(!text.contains("a@ss"))
    }

    @Test(
        "A value that is not a proxy is refused, without its password in the error",
        arguments: [
            "http://user:hunter2@", "http://user:hunter2@p.example:99999", "http://user:hunter2@p example",
            "ftp://user:hunter2@p.example", "https://user:hunter2@p.example", "socks5://user:hunter2@p.example",
            "http://:hunter2%0A@p.example", "http://p.example:hunter2",
        ])
    func bad(value: String) throws {
        let error = #expect(throws: TransportSettingsError.self) {
            try ProxyRules(environment: ["https_proxy": value])
        }
        #expect(error.map { "\($0)" }?.contains("hunter2") == false)
    }

    @Test(
        "Settings that are not a proxy are refused",
        arguments: [
            ProxySettings.http(host: "", port: 1), .http(host: "http://p.example", port: 1), .http(host: "p", port: 0),
            .http(host: "p", port: 65536), .http(host: "p", port: 1, password: "x"),
            .http(host: "p", port: 1, user: "a:b"), .http(host: "p", port: 1, user: "a\r\n"), .socks5(host: "[::1]"),
            .socks5(host: "p", except: ["a b"]), .socks5(host: "p", except: ["10.0.0.0/33"]),
        ])
    func badSettings(settings: ProxySettings) {
        #expect(throws: TransportSettingsError.self) { try settings.rules() }
    }

    @Test(
        "Exceptions are names with their subdomains, addresses, networks and ports",
        arguments: [
            ("*", "a.example", true), ("a.example", "a.example", true), (".a.example", "b.a.example", true),
            ("*.a.example", "a.example", true), ("a.example", "ba.example", false), ("example", "a.example", true),
            ("a.example:443", "a.example", true), ("a.example:80", "a.example", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("::1", "::1", true), ("[::1]:443", "::1", true), ("10.0.0.0/8", "10.1.2.3", true),
            ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe80::1", false), ("fe80::/10", "febf::1", true),
            ("fe80::/10", "fec0::1", false), ("::/0", "fd12::1", true), ("::/0", "10.1.2.3", false),
            ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.0/8", "10.example", false), ("0.0.0.0/0", "1.2.3.4", true),
            ("192.168.1.7/32", "192.168.1.8", false),
        ])
    func exceptions(entry: String, host: String, isCovered: Bool) throws {
        #expect(try ProxyException(entry).covers(host, 443) == isCovered)
    }

    @Test("no_proxy is a list")
    func list() throws {
        let rules = try ProxyRules(environment: ["all_proxy": "p", "no_proxy": "localhost, .internal,,10.0.0.0/8"])
        func isDirect(_ host: String) -> Bool { rules.server(scheme: "https", host: host, port: 443) == nil }
        #expect(isDirect("localhost") && isDirect("db.internal") && isDirect("10.9.9.9") && !isDirect("a.example"))
    }
}
