import Foundation
import MartletJSON
import Testing

@Suite("Containers", .timeLimit(.minutes(10)))
struct ContainerTests {
    struct Person: Decodable {
        let name: String
        let age: Int?
        let friends: [Person]?
    }

    @Test(
        "report the errors of Foundation, with its paths",
        arguments: [
            "{}", "null", "[]", "1", #"{"name":null}"#, #"{"name":1}"#, #"{"name":"Ada"}"#,
            #"{"name":"Ada","age":"1"}"#,
            #"{"name":"Ada","age":1.5}"#, #"{"name":"Ada","age":null,"friends":null}"#,
            #"{"name":"Ada","friends":[{"name":"Bob","friends":[{"name":"Cy"},{"age":1}]}]}"#,
            #"{"name":"Ada","friends":[{"name":"Bob","age":1e99}]}"#, #"{"name":"Ada","friends":[null]}"#,
            #"{"name":"Ada","friends":{}}"#, #"{"friends":[],"age":3,"name":"Ada"}"#, #"{"name":"\ud800"}"#,
            #"{"\ud800":1,"name":"Ada"}"#,
        ])
    func errors(_ json: String) {
        expectSame(Person.self, json)
        expectSame([Person].self, "[\(json)]")
    }

    @Test(
        "report the errors of arrays and scalars",
        arguments: ["[1,null]", #"[1,"a"]"#, "[1,2.5]", "{}", "null", "[[1]]"])
    func arrays(_ json: String) {
        expectSame([Int].self, json)
        expectSame([Double].self, json)
        expectSame([String].self, json)
        expectSame([Bool].self, json)
        expectSame([Int?].self, json)
        expectSame([UInt8].self, json)
        expectSame(Int.self, json)
        expectSame(String.self, json)
        expectSame(Bool.self, json)
        expectSame(Int?.self, json)
        expectSame([[Int]].self, json)
        expectSame(Set<Int>.self, json)
    }

    @Test("use the first of several equal keys, in any order of questions")
    func duplicates() {
        struct Three: Decodable {
            let values: [Int]

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: JSONName.self)
                values = try ["b", "a", "c", "a", "b"].map { try container.decode(Int.self, forKey: JSONName($0)) }
            }
        }
        #expect(expectSame(Three.self, #"{"a":1,"b":2,"a":3,"c":4,"b":5}"#).contains("[2, 1, 4, 1, 2]"))
        #expect(expectSame(Three.self, #"{"a":1,"\u0061":3,"b":2,"c":4}"#).contains("[2, 1, 4, 1, 2]"))
        expectSame([String: Int].self, #"{"a":1,"a":2}"#)
    }

    @Test("find keys that Swift considers equal")
    func equivalentKeys() {
        struct Keys: Decodable {
            let found: [Int?]

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: JSONName.self)
                found = try ["caf\u{E9}", "cafe\u{301}", "K", "\u{212A}", "\"", "x"].map {
                    try container.decodeIfPresent(Int.self, forKey: JSONName($0))
                }
            }
        }
        expectSame(Keys.self, "{\"caf\u{E9}\":1,\"\u{212A}\":2}")
        expectSame(Keys.self, "{\"cafe\u{301}\":1,\"K\":2}")
        expectSame(Keys.self, "{\"K\":2,\"x\":3}")
        expectSame(Keys.self, #"{"caf\u00e9":1,"\u004b":2,"\"":3}"#)
    }

    @Test("find the keys of large objects and long keys", arguments: [1, 40, 48, 49, 300])
    func largeObjects(_ count: Int) throws {
        let names =
            (0..<count).map { "key \($0)" } + [
                "", String(repeating: "x", count: 254), String(repeating: "x", count: 255),
            ]
            + [String(repeating: "x", count: 256), String(repeating: "x", count: 255) + "y"]
        let json = "{" + names.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",") + "}"
        let values = try decode([String: Int].self, json)
        #expect(values == Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) }))
        struct Backwards: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: JSONName.self)
                for name in container.allKeys.reversed() { _ = try container.decode(Int.self, forKey: name) }
                #expect(!container.contains(JSONName("no such key")))
            }
        }
        _ = try decode(Backwards.self, json)
    }

    @Test("nest, and have decoders for a superclass")
    func nesting() {
        struct Nested: Decodable {
            let text: String

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: JSONName.self)
                let inner = try container.nestedContainer(keyedBy: JSONName.self, forKey: JSONName("inner"))
                var list = try inner.nestedUnkeyedContainer(forKey: JSONName("list"))
                let first = try list.decode(Int.self)
                let isNull = try list.decodeNil()
                let base = try container.superDecoder().singleValueContainer().decode(Int.self)
                let missing = try container.superDecoder(forKey: JSONName("missing")).singleValueContainer().decodeNil()
                let last = try list.superDecoder().singleValueContainer().decode(String.self)
                text = "\(first) \(isNull) \(base) \(missing) \(last) \(list.isAtEnd) \(list.currentIndex)"
            }
        }
        for json in [
            #"{"inner":{"list":[1,null,"x"]},"super":5}"#, #"{"inner":{"list":[1,2,"x"]},"super":5}"#,
            #"{"inner":{"list":[1,null]},"super":5}"#, #"{"inner":{"list":[1,null,"x"]}}"#, #"{"inner":{"list":{}}}"#,
            #"{"inner":[]}"#, #"{"inner":null}"#, #"{"inner":{"list":[1,null,2]},"super":5}"#,
        ] {
            expectSame(Nested.self, json)
        }
    }

    @Test("work after the call that made them")
    func escapingDecoders() throws {
        final class Keeper: Decodable {
            let decoder: any Decoder
            let container: KeyedDecodingContainer<JSONName>

            init(from decoder: any Decoder) throws {
                self.decoder = decoder
                container = try decoder.container(keyedBy: JSONName.self)
            }
        }
        var data = Data(#"{"text":"a text that is not small","list":[1,2,3]}"#.utf8)
        let keepers = try (0..<3).map { _ in try MartletJSONDecoder().decode(Keeper.self, from: data) }
        data.resetBytes(in: 0..<data.count)
        for keeper in keepers {
            #expect(try keeper.container.decode(String.self, forKey: JSONName("text")) == "a text that is not small")
            #expect(try keeper.container.decode([Int].self, forKey: JSONName("list")) == [1, 2, 3])
            #expect(throws: DecodingError.self) { try keeper.decoder.unkeyedContainer() }
        }
        struct Keepers: Decodable { let all: [Keeper] }
        let nested = try decode([Keeper].self, #"[{"text":"first"},{"text":"second"},{"text":"third"}]"#)
        #expect(
            try nested.map { try $0.container.decode(String.self, forKey: JSONName("text")) }
                == ["first", "second", "third"])
        #expect(nested.map { $0.decoder.codingPath.map(\.intValue) } == [[0], [1], [2]])
    }

    @Test("decode 512 levels of a type that contains itself")
    func depth() throws {
        struct Level: Decodable {
            let depth: Int

            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                depth = container.isAtEnd ? 1 : try container.decode(Level.self).depth + 1
            }
        }
        let json = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try decode(Level.self, json).depth == 512)
    }

    @Test("release the elements before one that cannot be decoded")
    func releasedElements() throws {
        final class Element: Decodable {
            nonisolated(unsafe) static var count = 0

            init(from decoder: any Decoder) throws {
                // An initializer that throws calls `deinit`, too.
                Self.count += 1
                _ = try decoder.singleValueContainer().decode(Int.self)
            }

            deinit { Self.count -= 1 }
        }
        #expect(throws: DecodingError.self) { try decode([[Element]].self, "[[1,2],[3,4,null,5]]") }
        #expect(Element.count == 0)
        #expect(try decode([[Element]].self, "[[1,2],[3]]").map(\.count) == [2, 1])
        #expect(Element.count == 0)
    }

    @Test("pass the user's information to types")
    func userInfo() throws {
        struct Informed: Decodable {
            let text: String?

            init(from decoder: any Decoder) throws {
                text = CodingUserInfoKey(rawValue: "text").flatMap { decoder.userInfo[$0] as? String }
            }
        }
        var decoder = MartletJSONDecoder()
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "text"))] = "for types"
        #expect(
            try decoder.decode([Informed].self, from: Data("[1,2]".utf8)).map(\.text) == ["for types", "for types"])
    }
}

struct JSONName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
