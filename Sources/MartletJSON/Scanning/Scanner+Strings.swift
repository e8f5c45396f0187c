extension Scanner {
    /// Checks the string at the next byte, which is a quote. Returns the number of bytes between the quotes.
    @inline(__always)
    mutating func scanString() throws(MalformedDocument) -> (length: Int, kind: UInt32) {
        next += 1
        let first = next
        var kind = TextKind.plain
        while true {
            skipPlainBytes()
            guard next < end else { throw failure }
            let byte = next.pointee
            if byte == Byte.quote {
                let length = next - first
                next += 1
                return (length, kind)
            } else if byte == Byte.backslash {
                kind = max(kind, try scanEscape())
            } else if byte >= 0x80 {
                kind = max(kind, TextKind.unicode)
                try scanUnicode()
            } else if byte < 0x20 {
                throw failure
            } else {
                next += 1
            }
        }
    }

    /// Skips ASCII that needs no attention, in steps of eight bytes.
    ///
    /// The lowest byte that the subtraction marks is always a real match: a borrow can mark only bytes above it.
    @inline(__always)
    private mutating func skipPlainBytes() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        while end - next >= 8 {
            let word = load(next)
            let quotes = word ^ ones &* UInt64(Byte.quote)
            let backslashes = word ^ ones &* UInt64(Byte.backslash)
            let marks =
                (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) | word
            let found = marks & (ones &* 0x80)
            if found != 0 {
                next += found.trailingZeroBitCount >> 3
                return
            }
            next += 8
        }
    }

    /// Checks UTF-8 outside ASCII, up to the next byte of ASCII: no overlong form, no surrogate, nothing above
    /// U+10FFFF.
    private mutating func scanUnicode() throws(MalformedDocument) {
        while next < end, next.pointee >= 0x80 {
            let lead = next.pointee
            let rest = end - next
            switch lead {
            case 0xC2...0xDF:
                guard rest >= 2, isTrailing(next[1]) else { throw failure }
                next += 2
            case 0xE0...0xEF:
                guard rest >= 3, isTrailing(next[1]), isTrailing(next[2]) else { throw failure }
                if lead == 0xE0, next[1] < 0xA0 { throw failure }
                if lead == 0xED, next[1] > 0x9F { throw failure }
                next += 3
            case 0xF0...0xF4:
                guard rest >= 4, isTrailing(next[1]), isTrailing(next[2]), isTrailing(next[3]) else { throw failure }
                if lead == 0xF0, next[1] < 0x90 { throw failure }
                if lead == 0xF4, next[1] > 0x8F { throw failure }
                next += 4
            default:
                throw failure
            }
        }
    }

    @inline(__always)
    private func isTrailing(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// Checks the escape at the next byte, which is a backslash.
    private mutating func scanEscape() throws(MalformedDocument) -> UInt32 {
        guard end - next >= 2 else { throw failure }
        switch next[1] {
        case Byte.quote, Byte.backslash, UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), Byte.n,
            UInt8(ascii: "r"), Byte.t:
            next += 2
            return TextKind.escaped
        case Byte.u:
            guard let unit = Hex.unit(next + 2, end) else { throw failure }
            next += 6
            switch unit {
            case 0xD800...0xDBFF:
                guard end - next >= 2, next[0] == Byte.backslash, next[1] == Byte.u else { return TextKind.unpaired }
                guard let low = Hex.unit(next + 2, end) else { throw failure }
                // Anything other than a low surrogate is a separate escape.
                guard 0xDC00...0xDFFF ~= low else { return TextKind.unpaired }
                next += 6
                return TextKind.escaped
            case 0xDC00...0xDFFF:
                return TextKind.unpaired
            default:
                return TextKind.escaped
            }
        default:
            throw failure
        }
    }
}

/// The four digits of `\u`.
enum Hex {
    @inline(__always)
    static func unit(_ bytes: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UInt32? {
        guard end - bytes >= 4 else { return nil }
        let unit = digit(bytes[0]) << 12 | digit(bytes[1]) << 8 | digit(bytes[2]) << 4 | digit(bytes[3])
        return unit <= 0xFFFF ? unit : nil
    }

    /// The value of a digit; for any other byte a number with a high bit.
    @inline(__always)
    private static func digit(_ byte: UInt8) -> UInt32 {
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return Byte.digit(byte) < 10 ? UInt32(Byte.digit(byte)) : letter < 6 ? UInt32(letter) + 10 : 1 << 16
    }
}
