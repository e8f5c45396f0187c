import Foundation
import MartletJSON
import Testing

@Suite("Numbers", .timeLimit(.minutes(10)))
struct NumberTests {
    private static let texts = [
        "0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "32767", "32768", "-32769", "65535", "65536",
        "2147483647", "2147483648", "-2147483649", "4294967295", "4294967296", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
        "18446744073709551616", "99999999999999999999999", "1.0", "1.5", "-0.0", "1e2", "100e-2", "12.30e1", "1e400",
        "1e-400", "1.0000000000000001", "9007199254740993", "9007199254740992.0",
    ]

    @Test("are exact for every integer type, or an error", arguments: texts)
    func integers(_ text: String) {
        expectSame(Int.self, text)
        expectSame(Int8.self, text)
        expectSame(Int16.self, text)
        expectSame(Int32.self, text)
        expectSame(Int64.self, text)
        expectSame(UInt.self, text)
        expectSame(UInt8.self, text)
        expectSame(UInt16.self, text)
        expectSame(UInt32.self, text)
        expectSame(UInt64.self, text)
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            expectSame(Int128.self, text)
            expectSame(UInt128.self, text)
        }
    }

    @Test("are exact from 2^53 on also with a fraction or an exponent, where Foundation truncates them")
    func largeFractions() throws {
        #expect(try decode(Int.self, "9007199254740993.0") == 9_007_199_254_740_993)
        #expect(try decode(Int.self, "900719925474099300000000000e-11") == 9_007_199_254_740_993)
        #expect(try decode(UInt64.self, "1.8446744073709551615e19") == .max)
        #expect(outcome { try decode(Int.self, "9007199254740993.5") } == "dataCorrupted at []")
        #expect(outcome { try decode(Int64.self, "9223372036854775807.5") } == "dataCorrupted at []")
    }

    @Test(
        "may be zero with an exponent, which Foundation refuses at times", arguments: ["0e4", "0.00e5", "-0e1", "0E-9"])
    func zeros(_ text: String) throws {
        #expect(try decode(Double.self, text) == 0)
        #expect(try decode(Int.self, text) == 0)
    }

    @Test(
        "are rounded correctly",
        arguments: texts + [
            "0.1", "0.30000000000000004", "123456789.123456789", "-65.613616999999977", "4503599627370496.5",
            "4503599627370497.5", "9007199254740993e0", "1.7976931348623157e308", "1.7976931348623159e308", "5e-324",
            "2.4e-324", "2.5e-324", "2.2250738585072011e-308", "3.4028235e38", "3.4028236e38", "1.4e-45", "7e-46",
            "16777217", "16777219", "1e22", "1e23", "9e27", "1e-27", "1e28", "0e999", "0.000", "1E5", "8.5e21",
            "1.00000005960464477539062", "1.00000005960464477539063", "0.1e1",
            "123456789012345678901234567890", "0." + String(repeating: "0", count: 400) + "1",
        ])
    func floatingPoint(_ text: String) {
        expectSame(Double.self, text)
        expectSame(Float.self, text)
        #expect(
            (try? decode(Double.self, text)) == Double(text).flatMap { $0.isFinite ? $0 : nil }.flatMap(nonZero(text)))
    }

    /// A number other than zero must not become zero.
    private func nonZero(_ text: String) -> (Double) -> Double? {
        { $0 == 0 && text.prefix { $0 != "e" }.contains { "123456789".contains($0) } ? nil : $0 }
    }

    @Test("are rounded as the standard library rounds them")
    func randomNumbers() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let digits = UInt64.random(in: 0...UInt64.max, using: &random) >> UInt64.random(in: 0...63, using: &random)
            let text = "\(digits)e\(Int.random(in: -40...40, using: &random))"
            #expect(try decode(Double.self, text) == Double(text), "\(text)")
            let float = Float(text)
            #expect((try? decode(Float.self, text)) == (float == 0 && digits != 0 || float == .infinity ? nil : float))
        }
    }

    @Test("that are strings need a strategy")
    func nonConforming() {
        let json = #"["inf", "-inf", "nan", 1]"#
        expectSame([Double].self, json)
        func strategies(_ strategies: inout Strategies) {
            strategies.martlet.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            strategies.foundation.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        }
        #expect(expectSame([Double].self, json, configure: strategies) == "[inf, -inf, nan, 1.0]")
        expectSame([Float].self, json, configure: strategies)
        expectSame([Double].self, #"["other"]"#, configure: strategies)
        expectSame([Double].self, #"["\u0069nf"]"#, configure: strategies)
    }

    @Test("are decimals with all their digits")
    func decimals() throws {
        for text in ["0.1", "-12345678901234567890.123456789", "1e3", "0", #""1""#, "null", "1e200"] {
            expectSame(Decimal.self, text)
        }
    }
}
