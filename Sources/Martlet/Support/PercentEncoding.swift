/// Percent-encoding of UTF-8 text (RFC 3986, section 2).
package enum PercentEncoding {
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    /// Whether a path may contain the byte unescaped: `pchar` of RFC 3986, or a slash.
    static func isPathCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"):
            true
        default:
            isUnreserved(byte)
        }
    }

    static func encode(_ text: String, allowing isAllowed: (UInt8) -> Bool) -> String {
        var bytes = text.utf8.makeIterator()
        guard text.utf8.contains(where: { !isAllowed($0) }) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + 16)
        while let byte = bytes.next() {
            if isAllowed(byte) { result.append(byte) } else { result.append(contentsOf: escape(byte)) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Encodes a path, and keeps existing percent escapes.
    /// - Parameter other: A further character that is not encoded, such as the question mark before a query.
    package static func encodePath(_ path: String, allowing other: Unicode.Scalar? = nil) -> String {
        let other = other.map { UInt8(ascii: $0) }
        guard path.utf8.contains(where: { !isPathCharacter($0) && $0 != other }) else { return path }
        let bytes = Array(path.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && hexValue(bytes[index + 1]) != nil
                && hexValue(bytes[index + 2]) != nil
            if isPathCharacter(byte) || byte == other || isEscape {
                result.append(byte)
            } else {
                result.append(contentsOf: escape(byte))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes every valid percent escape, and keeps the rest.
    package static func decode(_ text: some StringProtocol) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = hexValue(bytes[index + 1]),
                let low = hexValue(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
