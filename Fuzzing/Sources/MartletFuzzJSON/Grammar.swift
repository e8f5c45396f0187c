/// RFC 8259 as a recursive descent parser over an array, with a depth of 512. It shares no code with the decoder that
/// it judges.
struct Grammar {
    private let bytes: [UInt8]
    private var next = 0
    /// Whether there is a number of 2^53 or more with a fraction or an exponent, for which the documentation names a
    /// difference.
    private(set) var hasLargeFraction = false
    /// Whether there is a zero with an exponent, which Foundation's decoder sometimes rejects as a number that is too
    /// small.
    private(set) var hasZeroWithExponent = false

    private struct Violation: Error {}

    /// `nil` if the document is not valid.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { next = 3 }
        do {
            try value(depth: 0)
            space()
            guard next == bytes.count else { return nil }
        } catch {
            return nil
        }
    }

    private var byte: UInt8? { next < bytes.count ? bytes[next] : nil }

    private mutating func space() {
        while let byte, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { next += 1 }
    }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[next...].starts(with: text.utf8) else { return false }
        next += text.utf8.count
        return true
    }

    private mutating func value(depth: Int) throws {
        space()
        if skip("{") {
            guard depth < 512 else { throw Violation() }
            space()
            if skip("}") { return }
            repeat {
                space()
                try string()
                space()
                guard skip(":") else { throw Violation() }
                try value(depth: depth + 1)
                space()
            } while skip(",")
            guard skip("}") else { throw Violation() }
        } else if skip("[") {
            guard depth < 512 else { throw Violation() }
            space()
            if skip("]") { return }
            repeat {
                try value(depth: depth + 1)
                space()
            } while skip(",")
            guard skip("]") else { throw Violation() }
        } else if byte == UInt8(ascii: "\"") {
            try string()
        } else if !skip("true"), !skip("false"), !skip("null") {
            try number()
        }
    }

    private mutating func number() throws {
        let start = next
        _ = skip("-")
        if !skip("0") { try digits() }
        let end = next
        if skip(".") { try digits() }
        let mantissa = bytes[start..<next]
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digits()
            hasZeroWithExponent = hasZeroWithExponent || mantissa.allSatisfy { !(0x31...0x39).contains($0) }
        }
        if next > end, let value = Double(String(decoding: bytes[start..<next], as: UTF8.self)) {
            hasLargeFraction = hasLargeFraction || value.magnitude >= 0x1p53
        }
    }

    private mutating func digits() throws {
        let start = next
        while let byte, (0x30...0x39).contains(byte) { next += 1 }
        guard next > start else { throw Violation() }
    }

    private mutating func string() throws {
        guard skip("\"") else { throw Violation() }
        let start = next
        while let byte, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw Violation() }
            next += 1
            guard byte == UInt8(ascii: "\\") else { continue }
            if skip("u") {
                guard next + 4 <= bytes.count,
                    bytes[next..<next + 4].allSatisfy({ Character(.init($0)).isHexDigit && $0 < 0x80 })
                else { throw Violation() }
                next += 4
            } else {
                guard let escape = self.byte, #""\/bfnrt"#.utf8.contains(escape) else { throw Violation() }
                next += 1
            }
        }
        let content = bytes[start..<next]
        guard skip("\""), String(validating: content, as: UTF8.self) != nil else { throw Violation() }
    }
}
