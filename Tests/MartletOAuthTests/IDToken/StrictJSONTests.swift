#if canImport(CryptoKit) || Encryption
    import Foundation
    import Testing

    @testable import MartletOAuth

    @Suite("strict JSON", .timeLimit(.minutes(10))) struct StrictJSONTests {
        private func parse(_ text: String) throws(StrictJSON.Fault) -> StrictJSON { try StrictJSON(Array(text.utf8)) }

        @Test("a document is read with all kinds of values") func values() throws {
            let value = try parse(#" {"a":[1,-2.5e1,true,false,null,"\u00e9\ud83d\ude00\n\/"],"b":{}} "#)
            #expect(
                value
                    == .object([
                        "a": .array([.number(1), .number(-25), .bool(true), .bool(false), .null, .string("é😀\n/")]),
                        "b": .object([:]),
                    ]))
        }

        @Test(
            "a document that breaks the grammar is refused",
            arguments: [
                "", " ", "{", "[", "\"", "{]", "[1,]", "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\" 1}", "01", "+1", "1.",
                ".5",
                "1e", "1e400", "-", "tru", "nul", "True", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"",
                "\"\\ud800\\u0041\"", "\"\u{1}\"", "1 2", "{} {}", "[1 2]", "\u{FEFF}{}", "NaN", "Infinity", "// a\n1",
                String(repeating: "[", count: 40) + String(repeating: "]", count: 40),
            ])
        func malformed(_ text: String) {
            #expect(throws: StrictJSON.Fault.malformed) { try parse(text) }
        }

        @Test(
            "bytes that are not UTF-8 are refused, wherever they stand",
            arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]])
        func invalidBytes(_ bytes: [UInt8]) {
            #expect(throws: StrictJSON.Fault.malformed) { try StrictJSON(Array("\"a".utf8) + bytes + Array("\"".utf8)) }
            #expect(throws: StrictJSON.Fault.malformed) { try StrictJSON(bytes) }
        }

        @Test(
            "two members with the same name are refused at every depth and in every spelling",
            arguments: [
                #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"[{"x":{"a":1,"b":2,"a":3}}]"#,
                "{\"\u{e9}\":1,\"e\u{301}\":2}",
            ])
        func duplicates(_ text: String) {
            #expect(throws: StrictJSON.Fault.duplicateMember) { try parse(text) }
        }

        @Test("texts are compared by their bytes") func bytes() {
            #expect("\u{e9}" == "e\u{301}")
            #expect(!"\u{e9}".isIdentical(to: "e\u{301}"))
        }
    }

    @Suite("Base64 for URLs", .timeLimit(.minutes(10))) struct Base64URLTests {
        @Test("bytes of every length are encoded and decoded") func roundTrip() {
            for count in 0..<70 {
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
                let text = Base64URL.encode(bytes)
                let reference = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                #expect(text == reference.replacing("=", with: ""))
                #expect(Base64URL.decode(text.utf8) == bytes)
            }
        }

        @Test(
            "other spellings are refused",
            arguments: ["A", "AAAAA", "AA==", "AAA=", "A A", "AA\n", "+A", "/A", "AB", "AAB", "AA.", "é", "AA\0"])
        func otherSpellings(_ text: String) {
            #expect(Base64URL.decode(text.utf8) == nil)
        }
    }
#endif
