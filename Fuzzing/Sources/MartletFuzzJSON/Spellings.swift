/// Numbers near every limit.
enum Numbers {
    private static let special = [
        "0", "-0", "0.0", "-0.0", "1", "-1", "1.0", "1e0", "10e-1", "127", "128", "-128", "-129", "255", "256", "32767",
        "32768", "-32768", "-32769", "65535", "65536", "2147483647", "2147483648", "-2147483648", "-2147483649",
        "4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "99999999999999999999",
        "170141183460469231731687303715884105727", "340282366920938463463374607431768211456", "9007199254740991",
        "9007199254740992", "9007199254740993", "1e400", "-1e400", "1e-400", "1e308", "1.7976931348623157e308",
        "1.7976931348623159e308", "4.9e-324", "2.4e-324", "2.5e-324", "2.2250738585072011e-308", "3.4028235e38",
        "3.4028236e38", "1.4e-45", "7e-46", "0.1", "0.30000000000000004", "123456789.123456789", "1.5", "-2.5E+3",
        "1E2", "1e-2", "100e-2", "0e999", "-0e-999", "1.0000000000000001", "4503599627370496.5", "4503599627370497.5",
        "65.613616999999977", "8.5e21", "1e22", "1e23", "9e27", "123456789012345678", "1234567890123456789",
        "12345678901234567890", "123456789012345678901", "0.000000000000000000000000001", "1e27", "1e28",
        "9223372036854775807.0", "1.8446744073709551615e19", "9007199254740993.5", "1e18", "12e17",
    ]

    static func random(_ random: inout Random) -> String {
        switch random.below(10) {
        case 0...4: return random.one(of: special)
        case 5: return "\(random.below(100_000) - 50_000)"
        case 6: return "\(Int64(truncatingIfNeeded: random.next()))"
        case 7: return shortest(Double(bitPattern: random.next()))
        case 8: return shortest(Double(Int64(truncatingIfNeeded: random.next())) / 1e12)
        default:
            let digits = (0..<random.below(22) + 1).map { _ in "\(random.below(10))" }.joined()
            let fraction = (0..<random.below(22) + 1).map { _ in "\(random.below(10))" }.joined()
            let whole = digits.first == "0" ? "0" : digits
            let exponent = random.happens(50) ? "" : "e\(random.one(of: ["", "+", "-"]))\(random.below(45))"
            return (random.happens(30) ? "-" : "") + whole + (random.happens(70) ? "." + fraction : "") + exponent
        }
    }

    private static func shortest(_ value: Double) -> String { value.isFinite ? "\(value)" : "17" }
}

/// Strings of every kind.
enum Texts {
    static let dates = [
        "2026-01-31T23:59:59Z", "2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "1583-01-01T00:00:00Z",
        "1582-10-10T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-31T23:59:60Z",
        "2026-13-01T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T23:59:59+09:00", "2026-01-31T23:59:59.123Z",
        "2026-01-31", "2026-01-31T23:59:59z", "2026-01-31 23:59:59Z", "2026-04-31T12:00:00Z", "0000-01-01T00:00:00Z",
        "1900-02-28T23:59:59Z", "1900-02-29T00:00:00Z", "2000-02-29T12:34:56Z", "yesterday", "1712-02-30T00:00:00Z",
    ]
    static let base64 = ["", "AA==", "AAECAw==", "AAE", "A", "!!!!", "AAEC\nAw==", "AAECAw", "=", "////", "-_-_"]
    private static let special =
        dates + base64 + [
            "hello", "reader", "writer", "fifteen bytes!!", "sixteen bytes!!!", "", " ", "\"quoted\"", "back\\slash",
            "/",
            "line\nbreak", "nul\u{0}byte", "\u{1F}", "\u{7F}", "café", "cafe\u{301}", "日本語テキスト", "서울", "😀👨‍👩‍👧",
            "\u{FEFF}bom",
            "\u{10FFFF}", "\u{D7FF}", "\u{E000}", "https://example.com/a?b=c#d", "http://[", "not a url", "inf", "-inf",
            "nan", "Infinity", "true", "null", "12", "eight by", "sixteen bytes!!!\"", "seven\\n",
            String(repeating: "long ", count: 30),
        ]

    static func random(_ random: inout Random) -> String { random.one(of: special) }
}
