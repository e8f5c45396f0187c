import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("JSON of unknown structure", .timeLimit(.minutes(10))) struct JSONValueTests {
    private static func nested(_ depth: Int) -> Data {
        Data((String(repeating: #"{"a":["#, count: depth / 2) + "1" + String(repeating: "]}", count: depth / 2)).utf8)
    }

    @Test("a deep value is read, and one that is too deep is not") func depth() {
        #expect(JSONValue(body: Self.nested(JSONValue.maximumDepth)) != nil)
        #expect(JSONValue(body: Self.nested(JSONValue.maximumDepth + 2)) == nil)
    }

    @Test(
        "a hostile depth does not exhaust the small stack of a pool's thread", arguments: [64, 66, 200, 500, 100_000])
    func smallStack(depth: Int) async {
        let body = Self.nested(depth)
        let isRead = await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: JSONValue(body: body) != nil) }
            // That of a thread of Dispatch, on which tasks run on Apple platforms.
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(isRead == (depth <= JSONValue.maximumDepth))
    }
}
