/// Reads characters, with JSON escapes and XML entities resolved.
extension SecretScanner {
    /// A character of the text, represented by one or more bytes.
    struct Symbol {
        /// The ASCII character. Other white space counts as a space or a line break, and any other character as 0x80.
        var byte: UInt8
        /// The number of bytes that represent the character.
        var length: Int
        /// The depth of the escapes: 0 for `"`, 1 for `\"` and `\n`, 2 for `\\\"` and `\\n`, 64 for `&quot;`. A text
        /// ends at a quotation mark of its own level or a lower one.
        var level = 0
        /// Whether an escape or an entity represents the character.
        var isEscape = false
        /// The letter of an escape, such as `\t`, that could also be a backslash before a word.
        var escapedLetter: UInt8?
        /// The number of backslashes before a quotation mark that belong to the text before it.
        var textLength = 0

        /// The number of enclosing documents that represent the character as an entity: 0 for `<`, 1 for `&lt;`. JSON
        /// escapes do not count, because they are optional for angle brackets.
        var depth: Int { level / 64 }

        /// Whether the character is a letter, a digit, or one beyond ASCII.
        var isWord: Bool { byte.isLetter || byte.isDigit || byte >= 0x80 }

        fileprivate static let other: UInt8 = 0x80
    }

    /// The byte at an index, or 0 outside of the text.
    mutating func byte(at index: Int) -> UInt8 {
        steps += 1
        return index >= 0 && index < bytes.count ? bytes[index] : 0
    }

    mutating func symbol(at index: Int) -> Symbol {
        let byte = byte(at: index)
        switch byte {
        case UInt8(ascii: "\\"): return escape(at: index)
        case UInt8(ascii: "&"): return entity(after: Symbol(byte: byte, length: 1), at: index)
        case 0x80...: return wideCharacter(at: index)
        default: return Symbol(byte: byte, length: 1)
        }
    }

    mutating func starts(with text: StaticString, at index: Int) -> Bool {
        for offset in 0..<text.utf8CodeUnitCount where byte(at: index + offset) != text.utf8Start[offset] {
            return false
        }
        return true
    }

    /// Whether the mask stands at an index, because the text has been redacted before.
    mutating func isMask(at index: Int) -> Bool {
        byte(at: index) == UInt8(ascii: "<") && starts(with: "redacted>", at: index + 1)
    }

    /// Whether a symbol is white space in the text around the index, and not a backslash before a letter.
    func isBlank(_ symbol: Symbol) -> Bool {
        guard symbol.byte.isBlank else { return false }
        guard symbol.isEscape, symbol.depth == 0 else { return true }
        return symbol.level == line.escapes ?? quotes.last.map { $0.level % 64 + 1 }
    }

    /// The index of the first symbol from `start` on that is not white space.
    mutating func skipBlanks(from start: Int, acrossLines: Bool = true) -> Int {
        var index = start
        while index < bytes.count {
            let symbol = symbol(at: index)
            guard symbol.byte.isBlank, acrossLines || !symbol.byte.isLineBreak else { break }
            index += symbol.length
        }
        return index
    }

    /// The symbol that ends before an index.
    mutating func symbol(before end: Int, after first: Int) -> Symbol {
        let last = byte(at: end - 1)
        var start = end - 1
        if last == UInt8(ascii: ";") {
            let limit = max(first, end - Self.longestEntity)
            while start > limit, !"&\\".utf8.contains(byte(at: start)) { start -= 1 }
        } else if PercentEncoding.hexValue(last) != nil, byte(at: end - 5) == UInt8(ascii: "u") {
            start = max(first, end - 6)
        }
        guard start < end - 1 else { return Symbol(byte: last, length: 1) }
        if byte(at: start) == UInt8(ascii: "\\") {
            while start > first, byte(at: start - 1) == UInt8(ascii: "\\") { start -= 1 }
        }
        let symbol = symbol(at: start)
        return start + symbol.length == end ? symbol : Symbol(byte: last, length: 1)
    }

    /// The letters and digits before an index, in lowercase, and the index of the first one.
    mutating func word(before end: Int, after first: Int, limit: Int) -> (letters: [UInt8], start: Int) {
        var (letters, start): ([UInt8], Int) = ([], end)
        while start > first, letters.count < limit {
            let symbol = symbol(before: start, after: first)
            guard symbol.isWord else { break }
            letters.append(symbol.byte.lowercased)
            start -= symbol.length
        }
        return (letters.reversed(), start)
    }

    /// The number of bytes of `\u0026amp;#x0027;` with a few more backslashes.
    private static let longestEntity = 20

    /// An escape of a JSON string, which may be nested in another: one or more backslashes, and the escaped character.
    private mutating func escape(at start: Int) -> Symbol {
        var end = start
        while byte(at: end) == UInt8(ascii: "\\") { end += 1 }
        let slashes = end - start
        let next = byte(at: end)
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            // Each level doubles the backslashes of the last one and adds its own: `"`, `\"`, `\\\"`. Pairs before them
            // belong to the text.
            let level = (~slashes).trailingZeroBitCount
            return Symbol(
                byte: next, length: slashes + 1, level: level, isEscape: true, textLength: slashes + 1 - (1 << level))
        case UInt8(ascii: "&"):
            let entity = entity(after: Symbol(byte: next, length: 1), at: end)
            guard entity.byte.isQuote else { break }
            // JSON around the document may have doubled the backslashes. So a pair counts as an escape too: at worst,
            // the text seems to be longer than it is.
            return Symbol(
                byte: entity.byte, length: slashes + entity.length,
                level: entity.level + Int.bitWidth - slashes.leadingZeroBitCount, isEscape: true)
        case UInt8(ascii: "u"):
            guard let value = hexNumber(at: end + 1, digits: 4) else { break }
            var symbol = Self.symbol(of: value, length: slashes + 5)
            let depth = slashes.trailingZeroBitCount + 1
            // Further backslashes before this escape escape it again.
            symbol.level = depth + (~(slashes >> depth)).trailingZeroBitCount
            return symbol.byte == UInt8(ascii: "&") ? entity(after: symbol, at: start) : symbol
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            let blank: UInt8 = next == UInt8(ascii: "t") ? 9 : next == UInt8(ascii: "r") ? 13 : 10
            return Symbol(
                byte: blank, length: slashes + 1, level: slashes.trailingZeroBitCount + 1, isEscape: true,
                escapedLetter: next)
        case UInt8(ascii: "/"):
            return Symbol(byte: next, length: slashes + 1, isEscape: true)
        default: break
        }
        return Symbol(byte: UInt8(ascii: "\\"), length: slashes)
    }

    /// An entity of XML or HTML, whose ampersand may be escaped itself: `&amp;quot;`, `\u0026quot;`.
    private mutating func entity(after ampersand: Symbol, at start: Int) -> Symbol {
        let first = start + ampersand.length
        var end = first
        while starts(with: "amp;", at: end) { end += 4 }
        // An entity within JSON within XML is deeper than one within XML alone.
        let level = ampersand.level * 129 + 64 * ((end - first) / 4 + 1)
        switch byte(at: end) {
        case UInt8(ascii: "#"):
            guard var symbol = numericEntity(at: end + 1) else { break }
            symbol.length -= start
            symbol.level = level
            return symbol
        case let first where first.isLetter:
            for (name, byte) in Self.entities where starts(with: name, at: end) {
                let length = end + name.utf8CodeUnitCount - start
                return Symbol(byte: byte, length: length, level: level, isEscape: true)
            }
        default: break
        }
        return Symbol(byte: UInt8(ascii: "&"), length: end - start, level: ampersand.level)
    }

    private static let entities: [(StaticString, UInt8)] = [
        ("quot;", UInt8(ascii: "\"")), ("lt;", UInt8(ascii: "<")), ("gt;", UInt8(ascii: ">")),
        ("apos;", UInt8(ascii: "'")), ("nbsp;", 32),
    ]

    /// - Returns: A symbol whose length is the index of its end.
    private mutating func numericEntity(at start: Int) -> Symbol? {
        let isHexadecimal = byte(at: start) | 0x20 == UInt8(ascii: "x")
        var (end, value) = (isHexadecimal ? start + 1 : start, 0)
        let first = end
        while end - first < 8, let digit = PercentEncoding.hexValue(byte(at: end)), isHexadecimal || digit < 10 {
            value = value * (isHexadecimal ? 16 : 10) + Int(digit)
            end += 1
        }
        guard end > first, byte(at: end) == UInt8(ascii: ";") else { return nil }
        return Self.symbol(of: value, length: end + 1)
    }

    private mutating func hexNumber(at start: Int, digits: Int) -> Int? {
        var value = 0
        for offset in 0..<digits {
            guard let digit = PercentEncoding.hexValue(byte(at: start + offset)) else { return nil }
            value = value << 4 | Int(digit)
        }
        return value
    }

    /// White space of several UTF-8 bytes, or the next byte of any other character.
    private mutating func wideCharacter(at start: Int) -> Symbol {
        let (first, second) = (byte(at: start), byte(at: start + 1))
        let isShort = first & 0xE0 == 0xC0
        let value =
            isShort
            ? Int(first & 0x1F) << 6 | Int(second & 0x3F)
            : Int(first & 0x0F) << 12 | Int(second & 0x3F) << 6 | Int(byte(at: start + 2) & 0x3F)
        guard isShort || first & 0xF0 == 0xE0, Self.isBlank(value) else { return Symbol(byte: Symbol.other, length: 1) }
        var symbol = Self.symbol(of: value, length: isShort ? 2 : 3)
        symbol.isEscape = false
        return symbol
    }

    private static func symbol(of scalar: Int, length: Int) -> Symbol {
        let isLineBreak = [0x85, 0x2028, 0x2029].contains(scalar)
        let byte =
            isLineBreak ? UInt8(ascii: "\n") : isBlank(scalar) ? 32 : UInt8(exactly: scalar) ?? Symbol.other
        return Symbol(byte: min(byte, Symbol.other), length: length, isEscape: true)
    }

    /// Whether this is white space beyond ASCII. Joiners are not: they are part of emoji.
    private static func isBlank(_ scalar: Int) -> Bool {
        switch scalar {
        case 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF: true
        default: false
        }
    }
}
