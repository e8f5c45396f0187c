import HTTPTypes
import Testing

@testable import Martlet

@Suite("Tokens in cookies") struct SetCookieTests {
    @Test(
        "a cookie is found in a field, also beside others in the same field",
        arguments: [
            ("refresh=tok", "tok"),
            ("refresh=tok; Path=/; HttpOnly", "tok"),
            ("refresh = tok ; Path=/", "tok"),
            ("refresh=a=b", "a=b"),
            ("a=b,refresh=tok", "tok"),
            ("a=b; Expires=Sat, 21 Nov 2026 12:00:00 GMT, refresh=tok; Path=/", "tok"),
            ("refresh=tok; Expires=Sat, 21 Nov 2026 12:00:00 GMT,   a=b", "tok"),
            ("refresh=a,b", "a,b"),
            ("refresh=a, b; Path=/", "a, b"),
            ("refresh=old, refresh=new", "new"),
            ("refresh=", nil),
            ("other=tok", nil),
            ("other=x; refresh=tok", nil),
            ("refresh", nil),
        ] as [(String, String?)])
    func oneField(field: String, value: String?) {
        #expect(SetCookie.value(of: "refresh", in: [.setCookie: field])?.reveal() == value)
    }

    @Test("the last of several fields counts") func severalFields() {
        var headers: HTTPFields = [.setCookie: "refresh=old"]
        headers.append(HTTPField(name: .setCookie, value: "refresh=new"))
        headers.append(HTTPField(name: .setCookie, value: "a=b"))
        #expect(SetCookie.value(of: "refresh", in: headers)?.reveal() == "new")
    }
}
