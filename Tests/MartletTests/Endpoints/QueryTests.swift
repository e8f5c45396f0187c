internal import Foundation
internal import Testing

@testable import Martlet

@Suite("Queries", .timeLimit(.minutes(10)))
struct QueryTests {
    private enum Order: String, QueryValue {
        case newest
        case oldest = "old & grey"
    }
    private enum Level: Int {
        case low = 1
        case high
    }
    private struct Tag: RawRepresentable, LosslessStringConvertible, QueryValue {
        var rawValue: String
        var description: String { "another text" }
        init(rawValue: String) { self.rawValue = rawValue }
        init?(_ description: String) { nil }
    }

    private let morning = Date(timeIntervalSince1970: 1_772_353_800)

    @Test(
        "every character survives encoding and decoding",
        arguments: [
            ("a+b", "a%2Bb"), ("a b", "a%20b"), ("a&b=c", "a%26b%3Dc"), ("50%", "50%25"), ("%2B", "%252B"),
            ("ü", "%C3%BC"), ("👩‍🚀", "%F0%9F%91%A9%E2%80%8D%F0%9F%9A%80"), ("?#/", "%3F%23%2F"),
            ("a;b", "a%3Bb"), ("~-._", "~-._"), ("\r\n", "%0D%0A"), ("", ""), ("a,b", "a%2Cb"),
        ])
    func encoding(value: String, encoded: String) {
        #expect(Query([.init("q", value)]).encoded == "q=\(encoded)")
        #expect(PercentEncoding.decode(encoded) == value)
    }

    @Test("the order is kept, names can repeat, and nil values are left out")
    func order() {
        let query: Query = ["tag": "b", "page": 2, "tag": "a", "draft": nil, "on": true]
        #expect(query.encoded == "tag=b&page=2&tag=a&on=true")
    }

    @Test("a name can have no value")
    func flags() {
        var query = Query()
        query.append(flag: "flag")
        query.append("x y", "")
        #expect(query.encoded == "flag&x%20y=")
    }

    @Test("numbers, booleans, characters, UUIDs and URLs are written as text")
    func types() throws {
        let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        let url = try #require(URL(string: "https://h/a?b=c"))
        let query: Query = [
            "a": -7, "b": UInt64.max, "c": 2.5, "d": false, "e": Character("é"), "f": "abc".prefix(2), "g": id,
            "h": url,
            "i": Decimal(string: "12.50"), "j": Int8(3), "k": Float(0.5),
        ]
        #expect(
            query.encoded == "a=-7&b=18446744073709551615&c=2.5&d=false&e=%C3%A9&f=ab"
                + "&g=E621E1F8-C36C-495A-93FC-0C247A3E6E5F&h=https%3A%2F%2Fh%2Fa%3Fb%3Dc&i=12.5&j=3&k=0.5")
    }

    @Test("an optional variable is left out if it is nil")
    func optionals() {
        let (tag, page, ids): (String?, Int?, [Int]?) = (nil, 3, nil)
        #expect((["tag": tag, "page": page, "ids": ids] as Query).encoded == "page=3")
    }

    @Test("a type with a raw value is written as its raw value")
    func rawValues() {
        var query: Query = ["order": Order.oldest, "tag": Tag(rawValue: "x")]
        query.append("level", Level.high)
        query.append("none", Level?.none)
        #expect(query.encoded == "order=old%20%26%20grey&tag=x&level=2")
    }

    @Test("an array repeats its name by default, and a query can choose another format")
    func arrays() {
        let ids: Query = ["ids": [1, 2, 3], "q": "x"]
        #expect(ids.encoded == "ids=1&ids=2&ids=3&q=x")
        #expect(Query(ids, arrays: .brackets).encoded == "ids%5B%5D=1&ids%5B%5D=2&ids%5B%5D=3&q=x")
        #expect(Query(ids, arrays: .comma).encoded == "ids=1,2,3&q=x")
        #expect(Query(["order": [Order.newest, .newest]], arrays: .comma).encoded == "order=newest,newest")
    }

    @Test("a comma within an element differs from one between elements")
    func commas() {
        let query = Query(["tags": ["a,b", "c"], "q": "d,e"], arrays: .comma)
        #expect(query.encoded == "tags=a%2Cb,c&q=d%2Ce")
        #expect(Query(["the ids&": [1, 2]], arrays: .comma).encoded == "the%20ids%26=1,2")
    }

    @Test("an empty array is left out", arguments: [Query.ArrayFormat.repeated, .brackets, .comma])
    func emptyArrays(format: Query.ArrayFormat) {
        #expect(Query(["ids": [Int]()], arrays: format).isEmpty)
        #expect(Query(["ids": [String](), "q": 1], arrays: format).encoded == "q=1")
    }

    @Test("a date is written in ISO 8601 and UTC by default, and a query can choose another format")
    func dates() {
        let query: Query = ["since": morning]
        #expect(query.encoded == "since=2026-03-01T08%3A30%3A00Z")
        #expect(Query(query, dates: .day).encoded == "since=2026-03-01")
        #expect(Query(query, dates: .secondsSince1970).encoded == "since=1772353800")
        #expect(Query(query, dates: .millisecondsSince1970).encoded == "since=1772353800000")
        let days = Query(["days": [morning, morning + 86_400]], arrays: .comma, dates: .day)
        #expect(days.encoded == "days=2026-03-01,2026-03-02")
    }

    @Test("a fraction of a second is kept to the millisecond")
    func fractions() {
        let query: Query = ["since": morning + 0.25]
        #expect(query.encoded == "since=2026-03-01T08%3A30%3A00.250Z")
        #expect(Query(query, dates: .secondsSince1970).encoded == "since=1772353800")
        #expect(Query(query, dates: .millisecondsSince1970).encoded == "since=1772353800250")
    }

    @Test("a date that no number of seconds can express does not trap")
    func distantDates() {
        let query: Query = ["since": Date(timeIntervalSince1970: 1e300)]
        #expect(Query(query, dates: .millisecondsSince1970).encoded == "since=1e%2B303")
    }

    @Test("the formats of a query also apply to what was added before, and is added later")
    func changedFormats() {
        var query: Query = ["ids": [1, 2], "since": morning]
        query = Query(query, arrays: .brackets, dates: .day)
        query.append("ids", [3])
        #expect(query.encoded == "ids%5B%5D=1&ids%5B%5D=2&since=2026-03-01&ids%5B%5D=3")
    }

    @Test("a secret, a nested array, a dictionary and an optional element are no values of a query")
    func rejectedTypes() {
        let values: [Any] = [Secret("s"), [[1]], ["a": 1], [Secret("s")], [1, nil] as [Int?], Data()]
        for value in values { #expect(!(value is any QueryParameter), "\(type(of: value))") }
    }
}
