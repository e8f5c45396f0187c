/// The names and values of a query or a form (`application/x-www-form-urlencoded`).
struct FormFields: Sendable {
    private(set) var pairs: [(name: String, value: String)] = []

    init(_ text: some StringProtocol) {
        for pair in text.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            pairs.append((Self.decode(halves[0]), halves.count > 1 ? Self.decode(halves[1]) : ""))
        }
    }

    mutating func append(name: String, value: String) {
        pairs.append((name, value))
    }

    subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }

    func integer(_ name: String) -> Int? {
        self[name].flatMap { Int($0) }
    }

    /// The first name that occurs more than once, which RFC 6749 forbids.
    var repeatedName: String? {
        var seen: Set<String> = []
        return pairs.first { !seen.insert($0.name).inserted }?.name
    }

    static func decode(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                if let high = rest.first?.hexDigit, let low = rest.dropFirst().first?.hexDigit {
                    bytes.append(high << 4 | low)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
