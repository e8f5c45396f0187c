/// A query: names and values in order; the same name may come more than once.
///
/// Values are encoded so that they arrive as they are: a `+` arrives as a `+`, a `&` as a `&`.
///
/// ```swift
/// var query: Query { ["page": 2, "tag": "a+b", "draft": nil] }     // page=2&tag=a%2Bb
/// ```
public struct Query: Sendable, Hashable {
    /// One name with its value; a name without a value stands alone (`?flag`).
    public struct Item: Sendable, Hashable {
        /// The name, not yet encoded.
        public var name: String
        /// The value, not yet encoded.
        public var value: String?

        /// One name with its value.
        public init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The items, in order.
    public var items: [Item]

    /// A query of some items.
    public init(_ items: [Item] = []) {
        self.items = items
    }

    /// Adds a name and a value, unless the value is `nil`.
    public mutating func append(_ name: String, _ value: (any CustomStringConvertible)?) {
        guard let value else { return }
        items.append(Item(name, value.description))
    }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { items.isEmpty }

    /// The encoded text, without the question mark.
    public var encoded: String {
        items.map { item in
            let name = PercentEncoding.encode(item.name, allowing: PercentEncoding.isUnreserved)
            guard let value = item.value else { return name }
            return name + "=" + PercentEncoding.encode(value, allowing: PercentEncoding.isUnreserved)
        }.joined(separator: "&")
    }
}

extension Query: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Names with values of any kind that has a description; a `nil` value leaves its name out.
    public init(dictionaryLiteral elements: (String, (any CustomStringConvertible)?)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }

    /// Items one by one.
    public init(arrayLiteral elements: Item...) {
        self.init(elements)
    }
}

/// Percent-encoding by RFC 3986, section 2, of the UTF-8 of a text.
enum PercentEncoding {
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

    /// What may stand bare in a path: `pchar` of RFC 3986 and the slash.
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

    /// Encodes a path, keeping the percent-escapes that stand there already.
    static func encodePath(_ path: String) -> String {
        guard path.utf8.contains(where: { !isPathCharacter($0) }) else { return path }
        let bytes = Array(path.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && hexValue(bytes[index + 1]) != nil
                && hexValue(bytes[index + 2]) != nil
            if isPathCharacter(byte) || isEscape {
                result.append(byte)
            } else {
                result.append(contentsOf: escape(byte))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes every valid percent-escape; anything else is kept.
    static func decode(_ text: some StringProtocol) -> String {
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

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
