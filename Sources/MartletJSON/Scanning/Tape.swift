/// The layout of the words that describe a scanned document.
///
/// Every value starts with the offset of its first byte, and that byte tells the kind of value. Numbers, `true`,
/// `false` and `null` have no other word. Strings have a second word with the number of bytes between the quotes and a
/// ``TextKind``; the second word of a key also has a hash. The second word of an array or object is the index of the
/// word after its last member, so that one step skips the whole value.
enum Tape {
    /// Documents of this size are refused: offsets and indexes must leave two bits for flags. A tape has at most
    /// `maxDepth` words more than its document has bytes.
    static let maxDocumentSize = 1 << 30 - 1_024
    static let maxDepth = 512

    /// The object has a key that is not plain, or perhaps two members with the same key.
    static let irregular: UInt32 = 1 << 31
    /// The object has too many members to look for duplicates while scanning.
    static let large: UInt32 = 1 << 30
    static let endMask: UInt32 = large - 1

    /// The index of a value that the document does not have. Reading it gives `null`.
    static let absent = UInt32.max

    /// The initial capacity for a document. Small documents get the most that they can need: a bracket or brace that is
    /// not closed has two words for one byte, everything else at most one word for each byte. The tape of a large
    /// document grows if it must; pages that it does not touch take no memory.
    static func capacity(forBytes count: Int) -> Int {
        (count < 1 << 14 ? count + maxDepth : count / 3) + 8
    }
}

/// The kind of bytes between two quotes. It decides how they become a string.
enum TextKind {
    static let plain: UInt32 = 0
    /// Valid UTF-8 with bytes outside ASCII.
    static let unicode: UInt32 = 1
    /// Has escapes.
    static let escaped: UInt32 = 2
    /// Has an escaped surrogate without its other half, which no string can represent.
    static let unpaired: UInt32 = 3
    static let mask: UInt32 = 3
}

/// The second word of a key: 22 bits of a hash, 8 bits for the length, and its kind. Different words mean different
/// keys of the same kind.
enum KeyWord {
    /// Keys of this length or longer do not store their length.
    static let longLength = 255

    @inline(__always)
    static func make(_ bytes: UnsafePointer<UInt8>, _ count: Int, kind: UInt32) -> UInt32 {
        hash(bytes, count) << 10 | UInt32(truncatingIfNeeded: min(count, longLength)) << 2 | kind
    }

    /// Whether a key is plain, has the length, and is not long.
    @inline(__always)
    static func isPlain(_ word: UInt32, length: Int) -> Bool {
        word & 0x3FF == UInt32(truncatingIfNeeded: length) << 2 | TextKind.plain && length < longLength
    }

    @inline(__always)
    static func length(_ word: UInt32) -> Int { Int(word >> 2 & 0xFF) }

    @inline(__always)
    private static func hash(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> UInt32 {
        let prime: UInt64 = 0x9E37_79B9_7F4A_7C15
        var hash = UInt64(truncatingIfNeeded: count) &* prime
        var next = bytes
        var rest = count
        while rest >= 8 {
            hash = (hash ^ load(next)) &* prime
            hash ^= hash >> 32
            next += 8
            rest -= 8
        }
        if rest > 0 {
            hash = (hash ^ load(next, count: rest)) &* prime
            hash ^= hash >> 32
        }
        return UInt32(truncatingIfNeeded: (hash &* prime) >> 42)
    }
}

/// Eight bytes, the first one lowest. The caller has made sure that they exist.
@inline(__always)
func load(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
}

/// One to seven bytes, mixed into a word. Reads no byte beyond them.
@inline(__always)
func load(_ bytes: UnsafePointer<UInt8>, count: Int) -> UInt64 {
    if count >= 4 {
        let raw = UnsafeRawPointer(bytes)
        let low = UInt32(littleEndian: raw.loadUnaligned(as: UInt32.self))
        let high = UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        return UInt64(high) << 32 | UInt64(low)
    }
    return UInt64(bytes[0]) | UInt64(bytes[count / 2]) << 8 | UInt64(bytes[count - 1]) << 16
}

/// Whether two areas of the same size have the same bytes.
@inline(__always)
func areEqual(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    var index = 0
    while index + 8 <= count {
        if load(left + index) != load(right + index) { return false }
        index += 8
    }
    return index == count || load(left + index, count: count - index) == load(right + index, count: count - index)
}

/// Bytes that the grammar names.
enum Byte {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")
    static let t = UInt8(ascii: "t")
    static let f = UInt8(ascii: "f")
    static let n = UInt8(ascii: "n")
    static let u = UInt8(ascii: "u")

    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
    /// The value of a digit; ten or more for any other byte.
    @inline(__always)
    static func digit(_ byte: UInt8) -> UInt8 { byte &- zero }
    @inline(__always)
    static func isExponent(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "e") }
}
