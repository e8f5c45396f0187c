import HTTPTypes
import Testing

@testable import Martlet

@Suite("Tokens in cookies", .timeLimit(.minutes(10))) struct SetCookieTests {
    @Test(
        "a cookie is found by its name, and its value may have commas",
        arguments: [
            ("refresh=tok", "tok"),
            ("refresh=tok; Path=/; HttpOnly", "tok"),
            ("refresh = tok ; Path=/", "tok"),
            ("refresh=a=b", "a=b"),
            ("a=b,refresh=tok", nil),
            ("refresh=tok; Expires=Sat, 21 Nov 2026 12:00:00 GMT", "tok"),
            ("refresh=a,b", "a,b"),
            ("refresh=a, b; Path=/", "a, b"),
            ("refresh=", nil),
            ("other=tok", nil),
            ("other=x; refresh=tok", nil),
            ("refresh", nil),
        ] as [(String, String?)])
    func oneField(field: String, value: String?) {
        #expect(SetCookie.value(of: "refresh", in: [.setCookie: field])?.reveal() == value)
    }

    @Test(
        "C96: a field is split only where URLSession joined two cookies, never at a comma within a value",
        arguments: [
            ("prefs=a,sid=evil; Path=/", ["prefs=a,sid=evil; Path=/"]),
            ("a=b, refresh=tok", ["a=b", "refresh=tok"]),
            (
                "a=b; Expires=Sat, 21 Nov 2026 12:00:00 GMT, refresh=tok; Path=/",
                ["a=b; Expires=Sat, 21 Nov 2026 12:00:00 GMT", "refresh=tok; Path=/"]
            ),
            ("a=b; Expires=Sat, 21 Nov 2026 12:00:00 GMT", ["a=b; Expires=Sat, 21 Nov 2026 12:00:00 GMT"]),
            ("refresh=a, b; Path=/", ["refresh=a, b; Path=/"]),
            ("", [""]),
        ] as [(String, [String])])
    func joinedFields(field: String, cookies: [String]) {
        #expect(SetCookie.separated(field).map(String.init) == cookies)
    }

    @Test("the last of several fields counts") func severalFields() {
        var headers: HTTPFields = [.setCookie: "refresh=old"]
        headers.append(HTTPField(name: .setCookie, value: "refresh=new"))
        headers.append(HTTPField(name: .setCookie, value: "a=b"))
        #expect(SetCookie.value(of: "refresh", in: headers)?.reveal() == "new")
    }
}
