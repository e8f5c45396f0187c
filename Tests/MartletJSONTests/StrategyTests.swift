import Foundation
import MartletJSON
import Testing

@Suite("Strategies and the types of Foundation", .timeLimit(.minutes(10)))
struct StrategyTests {
    struct Holder<Value: Decodable>: Decodable {
        let value: Value
        let values: [Value]?
    }

    private static let dateTexts = [
        #""2026-01-31T23:59:59Z""#, #""2024-02-29T00:00:00Z""#, #""2023-02-29T00:00:00Z""#, #""1583-01-01T00:00:00Z""#,
        #""1582-10-10T00:00:00Z""#, #""9999-12-31T23:59:59Z""#, #""2026-01-31T23:59:60Z""#, #""2026-13-01T00:00:00Z""#,
        #""2026-01-31T24:00:00Z""#, #""2026-01-31T23:59:59+09:00""#, #""2026-01-31T23:59:59.123Z""#,
        #""1900-02-28T12:00:00Z""#,
        #""2026-01-31""#, #""2026-01-31T23:59:59z""#, #""2026\u002d01-31T23:59:59Z""#, #""tomorrow""#, "null", "1",
        "1.5", "-1e9",
        "[]", "1e999",
    ]

    @Test("read dates as Foundation does", arguments: dateTexts)
    func dates(_ text: String) {
        let strategies: [(inout Strategies) -> Void] = [
            { _ in },
            {
                $0.martlet.dateDecodingStrategy = .iso8601
                $0.foundation.dateDecodingStrategy = .iso8601
            },
            {
                $0.martlet.dateDecodingStrategy = .secondsSince1970
                $0.foundation.dateDecodingStrategy = .secondsSince1970
            },
            {
                $0.martlet.dateDecodingStrategy = .millisecondsSince1970
                $0.foundation.dateDecodingStrategy = .millisecondsSince1970
            },
            {
                $0.martlet.dateDecodingStrategy = .custom { Date(timeIntervalSince1970: Double($0.codingPath.count)) }
                $0.foundation.dateDecodingStrategy = .custom {
                    Date(timeIntervalSince1970: Double($0.codingPath.count))
                }
            },
        ]
        for strategy in strategies {
            expectSame(Date.self, text, configure: strategy)
            expectSame(Holder<Date>.self, #"{"value":\#(text),"values":[\#(text)]}"#, configure: strategy)
            expectSame([Date?].self, "[\(text)]", configure: strategy)
        }
    }

    @Test("read every day of four centuries")
    func everyDay() throws {
        var decoder = MartletJSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for day in stride(from: -70_000, to: 80_000, by: 1) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            func padded(_ number: Int?, _ width: Int) -> String {
                let text = "\(number ?? 0)"
                return String(repeating: "0", count: width - text.count) + text
            }
            let json = "\"\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))T00:00:00Z\""
            #expect(try decoder.decode(Date.self, from: Data(json.utf8)) == date)
        }
    }

    @Test("read dates with fractions as Foundation does", arguments: 0..<40)
    func fractions(_ second: Int) throws {
        var decoder = MartletJSONDecoder()
        decoder.dateDecodingStrategy = .iso8601OptionalFraction
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for number in stride(from: second, to: 1000, by: 7) {
            let milliseconds = String("\(1000 + number)".dropFirst())
            for fraction in [
                milliseconds, "\(milliseconds)\(number * 37 % 900 + 100)", milliseconds + "456789", "\(number % 10)",
            ] {
                let text = "\(1990 + second)-02-28T23:59:\(10 + second).\(fraction)Z"
                let date = try decoder.decode(Date.self, from: Data("\"\(text)\"".utf8))
                #expect(try date == style.parse(text), "\(text)")
            }
        }
    }

    @Test(
        "refuse a date with a path, and take the forms that Foundation takes",
        arguments: [
            (#""2026-01-31T23:59:59+09:00""#, true), (#""2026-01-31T23:59:59.5+09:00""#, true), (#""tomorrow""#, false),
            (#""2026-01-31T23:59:59.Z""#, false), (#""2026-01-31T23:59:59.12xZ""#, false), ("1", false),
            ("null", false),
        ])
    func otherDates(_ text: String, isDate: Bool) {
        var decoder = MartletJSONDecoder()
        decoder.dateDecodingStrategy = .iso8601OptionalFraction
        let found = outcome { try decoder.decode([String: Date].self, from: Data(#"{"since":\#(text)}"#.utf8)) }
        #expect(isDate != found.hasSuffix("at [\"since -\"]"), "\(found)")
    }

    @Test(
        "read data, addresses and decimals as Foundation does",
        arguments: [
            #""AAECAw==""#, #""AAE""#, #""!!""#, #""""#, "[1,2,3]", "[1,300]", "null", "1",
            #""https://example.com/?a=b""#,
            #""http://[""#, #""AAEC\nAw==""#, #""AAEC\u0041w==""#, "0.1", "{}",
        ])
    func foundationTypes(_ text: String) {
        for deferred in [false, true] {
            expectSame(Holder<Data>.self, #"{"value":\#(text),"values":[\#(text)]}"#) {
                guard deferred else { return }
                $0.martlet.dataDecodingStrategy = .deferredToData
                $0.foundation.dataDecodingStrategy = .deferredToData
            }
        }
        expectSame(Data.self, text) {
            $0.martlet.dataDecodingStrategy = .custom { _ in Data([1]) }
            $0.foundation.dataDecodingStrategy = .custom { _ in Data([1]) }
        }
        expectSame(Holder<URL>.self, #"{"value":\#(text),"values":[\#(text)]}"#)
        expectSame(Holder<Decimal>.self, #"{"value":\#(text),"values":[\#(text)]}"#)
    }

    @Test(
        "convert snake case as Foundation does",
        arguments: [
            "a", "one_two", "_one_two_", "__a__b__", "ONE_TWO", "oneTwo_three", "_", "___", "", "a_b_c1", "url_id",
            "über_straße", "one_\u{301}two", "a__b", "ONE", "_ONE_", "i_İ_x", "x_1a_2B", "hello world_again-and",
        ])
    func snakeCase(_ key: String) {
        struct Names: Decodable {
            let names: [String]

            init(from decoder: any Decoder) throws {
                names = try decoder.container(keyedBy: JSONName.self).allKeys.map(\.stringValue)
            }
        }
        expectSame(Names.self, #"{"\#(key)":1}"#) { $0.convertSnakeCase() }
    }

    @Test("leave the keys of dictionaries alone, and use the first of equal keys")
    func keyStrategies() {
        struct Value: Decodable { let oneTwo: Int }
        expectSame(Value.self, #"{"one_two":1,"oneTwo":2}"#) { $0.convertSnakeCase() }
        expectSame([Value].self, #"[{"one_two":1},{"one_two":2}]"#) { $0.convertSnakeCase() }
        #expect(expectSame([String: Int].self, #"{"one_two":1}"#) { $0.convertSnakeCase() } == #"["one_two": 1]"#)
        for json in [#"{"one_two":{"one_two":"x"}}"#, "null", "[]", #"{"a":null}"#, #"{"a":{"one_two":1}}"#] {
            expectSame([String: Value].self, json) { $0.convertSnakeCase() }
        }
        expectSame([String: Int].self, #"{"a":1,"a":"x"}"#) { $0.convertSnakeCase() }
        let convert: @Sendable ([any CodingKey]) -> any CodingKey = { path in
            JSONName((path.last?.stringValue ?? "").lowercased() + (path.count > 1 ? "Two" : ""))
        }
        expectSame([Value].self, #"[{"ONE":1}]"#) {
            $0.martlet.keyDecodingStrategy = .custom(convert)
            $0.foundation.keyDecodingStrategy = .custom(convert)
        }
    }
}
