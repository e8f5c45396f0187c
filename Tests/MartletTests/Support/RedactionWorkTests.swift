internal import Testing

@testable import Martlet

/// Counts the bytes that are examined, because a time would depend on the machine.
@Suite("Work of redaction", .timeLimit(.minutes(10)))
struct RedactionWorkTests {
    /// Pieces that a hostile server could repeat: names without values, brackets and quotes that do not close, tags
    /// that do not end, escapes of escapes, and prefixes of everything that is looked for.
    private static let pieces = [
        "token:{", "token:{value:", "password:[\"", "password=(", "password=a,", "password=a&", "password",
        "password ", "password\n", "password:\n", "token:\nx(\"", "Password: a\n ", "- password: a\n", "\"password\" ",
        "\"password\",\"value\",", "user[password", "<a ", "<a:password ", "<password a=\"", "<password>", "a<token>",
        "a<token>b</x>", "a<token></token", "</password>", "<key>password</key>", "<password><![CDATA[", "<!--", "</",
        "&lt;password&gt;", "://", "://a@", "eyJ", "'cookie=\"", "Cookie: a=\"", "cookie=a; ", "authorization=a ",
        "Bearer ", "Bearer realm=(", "bearer token=", "\"", "\\\"", "\"\\\"", " \"'", "\\\\\"", "\\", "\\u0022",
        "&amp;", "&amp;quot;", "&#", "&", "%", "%2525", "a%3D", "token=%7Btoken%3D", "/", "a/", "k3Jd9fKq27LmZx81Vb0T/",
        "=", ":", "{", "}", "[", " ", "\r\n", "\u{A0}", "é", "don't ", "<redacted>", "<redacted", "password=<redacted>",
        "password:'x\n", "password:[\n", "\\\"cookie:[\"", "password[a]", "password[]", "\"name\":\"password\",",
        "\"value\":\"x\",\"name\":\"password\",", "key: password\n", "<a name=\"password\">", "<name>password</name>",
        "<password value=\"", "//", "//a@", "(\"token\")", "token:{a:", "\"tokens\":[{", "password: a \"", "%5Btoken",
        "x-session-", "password:(\n", "<b>password:</b>", "<key>password</key><!--", "<key>password</key><td a=\"",
        "<value>", "<value></value>", "<value></value><name>password</name>", "<![CDATA[password]]>",
        "form-data; name=\"password\"\n", "form-data; name=\"password\"\n\n", "<field id=\"password\">", "%2570assword",
        "<b>password:</b><i ", "[value]", "[\"value\"]", "token:{[a]", "value=", "\"value\":[",
        "\"value\":1,\"name\":\"password\",", "value: a\n ", "- value: a\n  name: password\n", "value=value=   ",
        "<a><value>a</value>", "<name> password </name>",
        "<name> password", "\"name\":\"password \",", "<a b=password ", "\"password (", "\"Password:\"",
        "\"password?\":", "/a/token=",
        "\"rawHeaders\":[\"X-Api-Key\",", "[[\"X-Api-Key\",", "(\"X-Api-Key\",\"", "\"value\":\"\\\"value\\\":\\\"",
        "e\u{301}",
        "password=e\u{301}",
        "\u{1F468}\u{200D}\u{1F469}", "/\u{1F1E6}",
        "disposition: form-data; name=password\n", "form-data; name=password\n\n",
        "nam\\u0065=\"password\",", "name=\\u0020password,", "\\u0020", "\\u0061", "&#32;", "\\\\u0061 key",
        "&lt;name&gt;password&lt;/name&gt;", "\\u003cname\\u003epassword\\u003c/name\\u003e",
        "<a b=\"&lt;c d=\"&amp;lt;e ", "<a b=\"&quot;\\u003e", "value:\"password\",", "token={\\u0061",
        "password[\\u0061", "{\"value\":\"<password>",
    ]

    /// The pieces that were quadratic before, or cost the most, for texts of 1 MB.
    private static let worstPieces = [
        "token:{", "password:[\"", "password=a,", "Password: a\n ", "\"password\",\"value\",", "<a ",
        "a<token>b</x>", "<password a=\"", "'cookie=\"", "://", "eyJ", "\\\"",
        "form-data; filename=a.txt; name=password;",
    ]

    @Test("C95: a byte of hostile text costs the same in 10 KB and in 1 MB", arguments: worstPieces)
    func linear(piece: String) {
        let costs = [10_000, 1_000_000].map { size in
            let text = String(repeating: piece, count: size / piece.utf8.count)
            return cost(text) { Redaction.redact(text, steps: &$0) }
        }
        #expect(costs[0] < 20)
        #expect(costs[1] < costs[0] * 1.1 + 0.1, "\(costs)")
    }

    /// Subscripts in which every name looks for a value, after the name of a token's object or of nothing.
    private static let subscripts = [
        ("", "[value]", ""), ("", "[\"value\"]", ""), ("token:{", "[a]", ""), ("token:{", "[\"a\"]", ""),
        ("", "[value]", "=x"), ("", "[\"value\"]", ":x"), ("token:{", "[a]", "=\nx y"), ("token:{\"", "[a]", "=x"),
        ("", "[value]</x>[value][value]", ""), ("", "\"[value]\"[value]", ""), ("token:{[a]", "[\"a\"][b]", "=x y"),
        ("<password ", "[value]", "=x"), ("", "<password [a]", ""),
    ]

    @Test("a byte of subscripts costs the same in 10 KB and in 1 MB", arguments: subscripts)
    func chains(start: String, piece: String, end: String) {
        let costs = [10_000, 1_000_000].map { size in
            let text = start + String(repeating: piece, count: size / piece.utf8.count) + end
            return cost(text) { Redaction.redact(text, steps: &$0) }
        }
        #expect(costs[0] < 20)
        #expect(costs[1] < costs[0] * 1.1 + 0.1, "\(costs)")
    }

    @Test("URLs, paths, forms and field values cost the same for each byte", arguments: pieces)
    func parts(piece: String) {
        let small = steps(of: piece, in: 1_000)
        let large = steps(of: piece, in: 8_000)
        for (small, large) in zip(small, large) {
            #expect(small < 20 && large < small * 1.2 + 0.5, "\(small) steps a byte in 1 KB, \(large) in 8 KB")
        }
    }

    @Test("many openings followed by many closings cost the same for each byte")
    func phases() {
        for openings in [
            "<password>", "a<token>", "<password a=\"", "password:[\"", "token:{", "'cookie=\"", "&lt;token&gt;",
            "password:'x\n", "password:[\n", "\\\"cookie:[\"", "x-key: \"a\n", "\"name\":\"password\",",
            "\"value\":\"", "password[0]", "password[token]", "<a name=\"password\">", "<name>password</name>",
            "token:{a:", "\"session\":\"x", "//a:",
        ] {
            for closings in [
                "</password>", "</x>", "\"", "]", "}", "'", "&lt;/token&gt;", "'=", "]=", "\\\"", "\"=", "\n",
            ] {
                let costs = [1_000, 8_000].map { size in
                    let text =
                        String(repeating: openings, count: size / openings.utf8.count)
                        + String(repeating: closings, count: size / closings.utf8.count)
                    return cost(text) { Redaction.redact(text, steps: &$0) }
                }
                #expect(costs[1] < costs[0] * 1.2 + 0.5, "\(openings) … \(closings): \(costs)")
            }
        }
    }

    /// The steps per byte of each way to redact a text.
    private func steps(of piece: String, in size: Int) -> [Double] {
        let text = String(repeating: piece, count: size / piece.utf8.count)
        return [
            cost(text) { Redaction.redact(text, steps: &$0) },
            cost(text) { Redaction.redact(text, keepsPaths: true, steps: &$0) },
            cost(text) { Redaction.redactURL(text, steps: &$0) },
            cost(text) { Redaction.redactForm(text[...], steps: &$0) },
            cost(text) { Redaction.redactFieldValue(text, steps: &$0) },
        ]
    }

    private func cost(_ text: String, _ redact: (inout Int) -> String) -> Double {
        var steps = 0
        _ = redact(&steps)
        return Double(steps) / Double(text.utf8.count)
    }
}
