import Foundation
import MartletJSON
import Testing

@Suite("The grammar of RFC 8259", .timeLimit(.minutes(10)))
struct GrammarTests {
    @Test(
        "accepts every form that it allows",
        arguments: [
            "null", "true", "false", "0", "-0", "-1.5e+10", "1E-2", "0.0", #""""#, #""\u0000""#, "[]", "{}", " [ ] ",
            "\t{\r\n\"a\" : [ 1 , { } ] }\n", #"["\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"]"#, "[1,2.0,3e4]", #"{"":""}"#,
            #"{"a":1,"a":2}"#, "\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10FFFF}\"", "\u{FEFF}[]", #""\ud800""#,
            #"["\udc00", "\ud800\u0041"]"#, "[1e999, -1e-999]",
            String(repeating: "[", count: 512)
                + String(repeating: "]", count: 512),
        ])
    func accepts(_ json: String) {
        #expect(throws: Never.self) { try decode(Anything.self, json) }
    }

    @Test(
        "refuses everything else",
        arguments: [
            "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", #"{"a"}"#, #"{"a":}"#,
            #"{"a":1,}"#,
            #"{"a":1 "b":2}"#, "{a:1}", "{1:2}", #"{"a"::1}"#, "nul", "nulll", "True", "tru", "falsy", "NaN",
            "Infinity",
            "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1.e5", "0x10", "1_000", "--1", "1.2.3", "1-2", "'a'",
            #""a"#,
            #""\"#, #""\x41""#, #""\u12""#, #""\u12g4""#, #""\u+123""#, "\"\n\"", "\"\t\"", "\"\u{0}\"", #""a" "b""#,
            "// comment\n1", "/* */1", "[1]\u{0}", "\u{A0}1", "\u{FEFF}\u{FEFF}1", "\u{2028}1", "1\u{FEFF}",
            String(repeating: "[", count: 513) + String(repeating: "]", count: 513),
            String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000),
        ])
    func refuses(_ json: String) {
        #expect(outcome { try decode(Anything.self, json) } == "dataCorrupted at []")
    }

    @Test(
        "refuses strings that are not UTF-8",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xE2, 0x82], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80],
            [0xF0, 0x9F, 0x98], [0xFF], [0xFE],
        ] as [[UInt8]])
    func refusesBytes(_ bytes: [UInt8]) {
        for filler in ["", "eight by", "more than eight bytes"] {
            let data = Data("\"\(filler)".utf8) + Data(bytes) + Data("\"".utf8)
            #expect(outcome { try MartletJSONDecoder().decode(Anything.self, from: data) } == "dataCorrupted at []")
        }
    }

    @Test("refuses every document that ends too early, without a read beyond its end")
    func refusesTruncation() {
        let json = Array(#"{"a\n\u00e9":[1.5e3,true,null,"é😀",{"b":false}],"text":"0123456789abcdef"}"#.utf8)
        for count in 0..<json.count {
            // The bytes end where the memory ends, as a checker of memory would notice.
            let part = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
            defer { part.deallocate() }
            part.copyBytes(from: json[..<count])
            let result = outcome {
                try MartletJSONDecoder().decode(Anything.self, from: UnsafeRawBufferPointer(part))
            }
            #expect(result == "dataCorrupted at []")
        }
        #expect(throws: Never.self) { try MartletJSONDecoder().decode(Anything.self, from: Data(json)) }
    }

    @Test("checks members that the type does not ask for")
    func checksAllMembers() {
        struct Name: Decodable { let name: String }
        for member in ["01", #""\x""#, "[1,]", "1e", "\"\u{1}\""] {
            #expect(outcome { try decode(Name.self, #"{"name":"Ada","more":\#(member)}"#) } == "dataCorrupted at []")
        }
    }

    @Test("survives garbage")
    func survivesGarbage() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array(#"{}[]",:\u0123eE+-.tfn "#.utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            _ = outcome { try MartletJSONDecoder().decode([String: [Int]].self, from: Data(bytes)) }
        }
    }

    @Test("says where a document breaks it")
    func saysWhere() {
        do {
            _ = try decode([Int].self, "[1,2,x]")
            Issue.record("The document was accepted.")
        } catch DecodingError.dataCorrupted(let context) {
            #expect(context.debugDescription.hasSuffix("at byte 5."))
        } catch {
            Issue.record(error)
        }
    }
}
