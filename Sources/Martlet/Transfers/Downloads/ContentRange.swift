/// The value of a `Content-Range` field (RFC 9110, section 14.4).
struct ContentRange: Hashable {
    /// The first and the last byte; `nil` if the requested range does not exist.
    let bounds: ClosedRange<Int64>?
    /// The size of the complete representation; `nil` if the server does not know it.
    let total: Int64?

    /// Reads `bytes 0-499/1234`, `bytes 0-499/*` or `bytes */1234`.
    init?(_ field: String) {
        let words = field.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        if halves[1] == "*" {
            total = nil
        } else {
            guard let count = Self.number(halves[1]) else { return nil }
            total = count
        }
        guard halves[0] != "*" else {
            guard total != nil else { return nil }
            bounds = nil
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            total.map({ last < $0 }) ?? true
        else { return nil }
        bounds = first...last
    }

    private static func number(_ text: Substring) -> Int64? {
        // `Int64` would accept a sign.
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
