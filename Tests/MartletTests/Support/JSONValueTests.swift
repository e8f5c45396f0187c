import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("JSON of unknown structure", .timeLimit(.minutes(10))) struct JSONValueTests {
    private static func nested(_ depth: Int) -> Data {
        Data((String(repeating: #"{"a":["#, count: depth / 2) + "1" + String(repeating: "]}", count: depth / 2)).utf8)
    }

    @Test("a deep value is read, and one that is too deep is not; of a salvaged body, only its depth is left out")
    func depth() throws {
        #expect(JSONValue(body: Self.nested(JSONValue.maximumDepth)) != nil)
        #expect(JSONValue(body: Self.nested(JSONValue.maximumDepth + 2)) == nil)
        #expect(try #require(JSONValue(salvaging: Self.nested(JSONValue.maximumDepth))?.encoded).contains("1"))
        #expect(try !#require(JSONValue(salvaging: Self.nested(JSONValue.maximumDepth + 2))?.encoded).contains("1"))
    }

    @Test(
        "a member that cannot be represented does not hide the others",
        arguments: [
            #""Ada \ud83d""#, "1e400", "-1e400", "\"Ada\tB\"", "\"Ada\u{0}B\"",
            String(repeating: "[", count: 100) + String(repeating: "]", count: 100),
        ])
    func member(text: String) throws {
        let value = try #require(JSONValue(salvaging: Data(#"{"a":\#(text),"b":["c",\#(text)],"d":2}"#.utf8)))
        #expect(value["d"] == .integer(2))
        #expect(value["b"]?.array?.first == .string("c"))
    }

    @Test("text in another encoding than UTF-8 is read") func latin1() throws {
        let value = try #require(
            JSONValue(salvaging: Data([UInt8](#"{"name":"Ren"#.utf8) + [0xE9] + [UInt8](#"","d":2}"#.utf8))))
        #expect(value["d"] == .integer(2))
    }

    @Test("an integer of 64 bits keeps all its digits") func unsigned() {
        #expect(JSONValue(body: Data("[18446744073709551615]".utf8))?.array?.first?.text == "18446744073709551615")
    }

    @Test("what is not JSON is not read", arguments: ["", "no", "<a>", "{", #"{"a":NaN}"#, "[1", "\t"])
    func noJSON(text: String) {
        #expect(JSONValue(body: Data(text.utf8)) == nil && JSONValue(salvaging: Data(text.utf8)) == nil)
    }

    @Test(
        "a hostile depth does not exhaust the small stack of a pool's thread", arguments: [64, 66, 200, 500, 100_000],
        [false, true])
    func smallStack(depth: Int, isSalvaged: Bool) async {
        let body = Self.nested(depth)
        let isRead = await withCheckedContinuation { continuation in
            let thread = Thread {
                let value = isSalvaged ? JSONValue(salvaging: body) : JSONValue(body: body)
                continuation.resume(returning: value != nil)
            }
            // That of a thread of Dispatch, on which tasks run on Apple platforms.
            thread.stackSize = 512 << 10
            thread.start()
        }
        // Foundation itself reads at most 512 levels.
        #expect(isRead == (depth <= (isSalvaged ? 512 : JSONValue.maximumDepth)))
    }
}
