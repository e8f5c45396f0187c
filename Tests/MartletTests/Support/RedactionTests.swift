internal import Foundation
internal import MartletTesting
internal import Testing

@testable import Martlet

@Suite("Redaction")
struct RedactionTests {
    @Test(
        "tokens are masked in every position",
        arguments: [jwt, opaque, hex, "ghp_16C7e42F292c6912E7710c838347Ae178B4a"])
    func tokens(token: String) {
        for text in [token, "got \(token).", "(\(token))", "\"\(token)\"", "a=\(token)&b=c", "/reset/\(token)/x"] {
            let redacted = Redaction.redact(text)
            #expect(!redacted.contains(token), "\(redacted)")
            #expect(redacted.contains(Redaction.mask))
        }
    }

    @Test(
        "values of sensitive names are masked in every notation",
        arguments: [
            #"{"password":"hunter2"}"#, #"{"password": "hunter2, with \"quotes\" & hunter2"}"#,
            #"{"new_password":"hunter2","page":3}"#, #"{"confirmPassword" : 'hunter2'}"#,
            #"{"client_secret":"hunter2"}"#, #"{"accessToken":"hunter2"}"#, #"{"csrf-token":"hunter2"}"#,
            #"{"body":"{\"password\":\"hunter2\"}"}"#, #"{"password":"hunter2"#, #"{"pass":1,"passwd":"\\hunter2\\"}"#,
            "grant_type=password&password=hunter2&x=1", "refresh_token=hunter2", "token: hunter2", "token=hunter2;",
            "Authorization: Bearer hunter2", "authorization: hunter2", "Authorization: Token hunter2",
            "Authorization: Basic hunter2==", "PROXY-AUTHORIZATION: Negotiate hunter2", "X-Api-Key: hunter2",
            #""Authorization": "Bearer hunter2""#, "Cookie: hunter2=1", "Cookie: theme=dark; sid=hunter2",
            "Cookie: a=1; b=2; sid=hunter2; c=3", "Set-Cookie: sid=hunter2; Path=/; HttpOnly",
            #"Cookie: a="b c"; sid=hunter2"#, "Cookie: a=1,2&3; sid=hunter2", #"{"password":"{hunter2"}"#,
            "otp=hunter2", "pwd=hunter2", #"{"userPwd":"hunter2"}"#, "pass: hunter2", #"{"passcode":"hunter2"}"#,
            #"<password type="x">hunter2</password>"#, #"<wsse:Password Type="a:b#c">hunter2</wsse:Password>"#,
            #"<user token="hunter2">Ada</user>"#, #"{"password":["hunter2","[hunter2"],"page":3}"#,
            #"{"password":{"value":"hunter2"}}"#, #"{"secret":[["hunter2"#,
            #"{"bearer":"hunter2"}"#,
            "authorization: hunter2\r\nHost: h", "X-Auth-Token:hunter2", "bearer hunter2", "DPoP hunter2",
            "Basic hunter2==", "Authorization: Bearer hunter2abc, x",
            "<password>hunter2</password>", "<access_token>hunter2</access_token>",
            "https://ada:hunter2@example.com/x", "see postgres://hunter2@db/x",
        ])
    func namedSecrets(text: String) {
        let redacted = Redaction.redact(text)
        #expect(!redacted.contains("hunter2"), "\(redacted)")
        #expect(redacted.contains(Redaction.mask))
    }

    @Test(
        "the rest of the text is kept",
        arguments: [
            (
                #"{"token_type":"Bearer","access_token":"abc","expires_in":3600}"#,
                #"{"token_type":"Bearer","access_token":"<redacted>","expires_in":3600}"#
            ),
            (#"{"password":"a","name":"Ada"}"#, #"{"password":"<redacted>","name":"Ada"}"#),
            ("Authorization: Bearer abc\r\nHost: h", "Authorization: Bearer <redacted>\r\nHost: h"),
            ("authorization: abc\r\nHost: h", "authorization: <redacted>\r\nHost: h"),
            ("user=ada&password=x&page=2", "user=ada&password=<redacted>&page=2"),
            ("https://ada:pw@example.com/a?b=c", "https://<redacted>@example.com/a?b=c"),
            ("<name>Ada</name><password>x</password>", "<name>Ada</name><password><redacted></password>"),
            ("Cookie: a=1; b=2\nHost: h", "Cookie: <redacted>\nHost: h"),
            ("-H 'Cookie: a=1; b=2' -X GET", "-H 'Cookie: <redacted>' -X GET"),
            (#"{"token":{"kind":"x"},"tokens":["y"]}"#, #"{"token":{"kind":"x"},"tokens":["y"]}"#),
            (#"{"password":["a]","b"],"page":3}"#, #"{"password":<redacted>,"page":3}"#),
            (#"<p:pin a="b">1</p:pin><p:page>2</p:page>"#, #"<p:pin a="b"><redacted></p:pin><p:page>2</p:page>"#),
        ])
    func surroundings(text: String, redacted: String) {
        #expect(Redaction.redact(text) == redacted)
    }

    @Test(
        "ordinary texts stay readable",
        arguments: [
            "The password is wrong.", "Not found: /articles/2024/swift-on-linux/comments", "It took 12.5 seconds.",
            "A basic account has no bearer of bad news.", "Basic usage: see the manual.", "Your token has expired.",
            #"Bearer realm="api", error="invalid_token""#, #"{"token":null,"password":true}"#, #"{"password":""}"#,
            "POST /auth/token: 401 Unauthorized", "GET https://api.example.com/v1/articles?page=2#top",
            #"{"code":"validation_failed","fields":["name","email"]}"#, "internationalization-and-localization",
            "Grüße aus Köln, 你好, 👩‍🚀!", "", " ", ":=\"'\\", "://", "https://example.com/@ada", "mail ada@example.com",
            "secret", "password:", "token=", "Bearer", "Bearer ", "the bearer token is missing",
            "ConnectionPoolTimeoutErrorDescription",
        ])
    func ordinaryTexts(text: String) {
        #expect(Redaction.redact(text) == text)
    }

    @Test("redaction is idempotent", arguments: ["password=x", "Authorization: Bearer abc", "a \(jwt) b"])
    func twice(text: String) {
        let once = Redaction.redact(text)
        #expect(Redaction.redact(once) == once)
    }

    @Test(
        "sensitive header fields are known",
        arguments: [
            ("Authorization", true), ("cookie", true), ("Set-Cookie", true), ("X-CSRF-Token", true),
            ("X-Api-Key", true), ("X-Auth-User", true), ("X-Client-Secret", true), ("X-Signature", true),
            ("X-Password", true), ("Proxy-Authorization", true), ("Content-Type", false), ("Accept", false),
            ("ETag", false), ("WWW-Authenticate", false), ("X-Request-ID", false), ("Retry-After", false),
        ])
    func headers(name: String, isSensitive: Bool) {
        #expect(Redaction.isSensitive(headerName: name) == isSensitive)
    }

    @Test("the excerpt of a body is one line of its start")
    func excerpts() {
        #expect(Redaction.excerpt(of: Data()) == "")
        #expect(Redaction.excerpt(of: Data("a\r\n  b\n{\"token\": \"x\"}".utf8)) == "a b {\"token\": \"<redacted>\"}")
        #expect(Redaction.excerpt(of: Data(String(repeating: "ab ", count: 1000).utf8), limit: 6) == "ab ab …")
        #expect(Redaction.excerpt(of: Data([0xFF, 0xFE, 0x00])) == "3 bytes that are not text")
    }

    @Test("a token cut by the excerpt's limit is masked")
    func excerptThatCutsAToken() {
        let body = Data((String(repeating: "word ", count: 58) + String(repeating: opaque, count: 200)).utf8)
        let excerpt = Redaction.excerpt(of: body)
        #expect(!excerpt.contains(opaque.prefix(10)))
    }

    @Test("a character cut by the excerpt's limit is dropped")
    func excerptThatCutsACharacter() {
        for shift in 0..<4 {
            let text = String(repeating: "x", count: shift) + String(repeating: "👩🏽 ", count: 3000)
            #expect(Redaction.excerpt(of: Data(text.utf8), limit: 5).hasSuffix("…"))
        }
    }

    @Test("texts of any shape are handled")
    func fuzz() {
        var generator = SeededGenerator(seed: 7)
        let pieces = [
            "password", "Bearer", "Cookie", "Authorization", ":", "=", "\"", "'", "\\", " ", ";", "; ", "://", "@",
            "<", ">", "{", "\r\n", "\u{301}", "token", "eyJ", "x1", jwt,
        ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0..<12, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            #expect(!Redaction.redact(text).contains(jwt), "\(text)")
        }
    }
}

private let jwt =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
private let opaque = "k3Jd9fKq27LmZx81Vb0T"
private let hex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
