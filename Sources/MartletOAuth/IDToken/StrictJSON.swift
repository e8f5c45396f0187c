#if canImport(CryptoKit) || Encryption
    /// A JSON value of an unambiguous document. The document follows RFC 8259, and no object has two members with the
    /// same name (RFC 8725, section 2.6 and RFC 7515, section 4).
    enum StrictJSON: Sendable, Hashable {
        case object([String: StrictJSON])
        case array([StrictJSON])
        case string(String)
        case number(Double)
        case bool(Bool)
        case null

        /// A fault in a document.
        enum Fault: Error {
            /// It is not JSON in UTF-8, or it nests more than ``StrictJSON/maximumDepth`` values.
            case malformed
            case duplicateMember
        }

        static let maximumDepth = 32

        init(_ document: some Collection<UInt8>) throws(Fault) {
            var reader = Reader(bytes: Array(document))
            self = try reader.document()
        }

        var members: [String: StrictJSON]? {
            if case .object(let members) = self { members } else { nil }
        }

        var string: String? {
            if case .string(let text) = self { text } else { nil }
        }

        var number: Double? {
            if case .number(let number) = self { number } else { nil }
        }

        var isTrue: Bool { self == .bool(true) }

        /// The strings of an array that contains only strings.
        var strings: [String]? {
            guard case .array(let elements) = self else { return nil }
            let strings = elements.compactMap(\.string)
            return strings.count == elements.count ? strings : nil
        }
    }

    extension String {
        /// Whether the strings have the same bytes. `==` also accepts canonically equivalent strings.
        func isIdentical(to other: String) -> Bool {
            utf8.elementsEqual(other.utf8)
        }
    }

    /// Reads one document from its first byte to its last.
    private struct Reader {
        let bytes: [UInt8]
        private var next = 0
        private var depth = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func document() throws(StrictJSON.Fault) -> StrictJSON {
            let value = try value()
            skipSpace()
            guard next == bytes.count else { throw .malformed }
            return value
        }

        private var byte: UInt8? { next < bytes.count ? bytes[next] : nil }

        private mutating func skipSpace() {
            while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { next += 1 }
        }

        private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
            guard byte == UInt8(ascii: wanted) else { return false }
            next += 1
            return true
        }

        private mutating func value() throws(StrictJSON.Fault) -> StrictJSON {
            skipSpace()
            switch byte {
            case UInt8(ascii: "{"): return .object(try members())
            case UInt8(ascii: "["): return .array(try elements())
            case UInt8(ascii: "\""): return .string(try text())
            case UInt8(ascii: "t"): return try literal("true", .bool(true))
            case UInt8(ascii: "f"): return try literal("false", .bool(false))
            case UInt8(ascii: "n"): return try literal("null", .null)
            default: return .number(try number())
            }
        }

        /// Enters an object or array.
        private mutating func enter() throws(StrictJSON.Fault) {
            guard depth < StrictJSON.maximumDepth else { throw .malformed }
            depth += 1
            next += 1
        }

        private mutating func members() throws(StrictJSON.Fault) -> [String: StrictJSON] {
            try enter()
            defer { depth -= 1 }
            var members: [String: StrictJSON] = [:]
            skipSpace()
            if take("}") { return members }
            while true {
                skipSpace()
                guard byte == UInt8(ascii: "\"") else { throw .malformed }
                let name = try text()
                skipSpace()
                guard take(":") else { throw .malformed }
                let value = try value()
                // Swift also treats canonically equivalent names as equal. They are just as ambiguous.
                guard members.updateValue(value, forKey: name) == nil else { throw .duplicateMember }
                skipSpace()
                if take("}") { return members }
                guard take(",") else { throw .malformed }
            }
        }

        private mutating func elements() throws(StrictJSON.Fault) -> [StrictJSON] {
            try enter()
            defer { depth -= 1 }
            var elements: [StrictJSON] = []
            skipSpace()
            if take("]") { return elements }
            while true {
                elements.append(try value())
                skipSpace()
                if take("]") { return elements }
                guard take(",") else { throw .malformed }
            }
        }

        private mutating func literal(_ word: StaticString, _ value: StrictJSON) throws(StrictJSON.Fault) -> StrictJSON
        {
            let wanted = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            guard bytes[next...].starts(with: wanted) else { throw .malformed }
            next += wanted.count
            return value
        }

        private mutating func number() throws(StrictJSON.Fault) -> Double {
            let start = next
            _ = take("-")
            if !take("0") { try digits() }
            if take(".") { try digits() }
            if take("e") || take("E") {
                if !take("+") { _ = take("-") }
                try digits()
            }
            guard let number = Double(String(decoding: bytes[start..<next], as: UTF8.self)), number.isFinite else {
                throw .malformed
            }
            return number
        }

        private mutating func digits() throws(StrictJSON.Fault) {
            let start = next
            while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { next += 1 }
            guard next > start else { throw .malformed }
        }

        private mutating func text() throws(StrictJSON.Fault) -> String {
            next += 1
            var content: [UInt8] = []
            while let byte {
                next += 1
                switch byte {
                case UInt8(ascii: "\""):
                    let text = String(decoding: content, as: UTF8.self)
                    // Decoding replaces invalid UTF-8.
                    guard text.utf8.elementsEqual(content) else { throw .malformed }
                    return text
                case UInt8(ascii: "\\"): content += try escape()
                case 0..<0x20: throw .malformed
                default: content.append(byte)
                }
            }
            throw .malformed
        }

        private mutating func escape() throws(StrictJSON.Fault) -> [UInt8] {
            guard let byte else { throw .malformed }
            next += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
            case UInt8(ascii: "b"): return [0x08]
            case UInt8(ascii: "f"): return [0x0C]
            case UInt8(ascii: "n"): return [0x0A]
            case UInt8(ascii: "r"): return [0x0D]
            case UInt8(ascii: "t"): return [0x09]
            case UInt8(ascii: "u"): return Array(String(try scalar()).utf8)
            default: throw .malformed
            }
        }

        /// A character after `\u`. A surrogate needs its other half.
        private mutating func scalar() throws(StrictJSON.Fault) -> Character {
            let first = try codeUnit()
            if let scalar = Unicode.Scalar(first) { return Character(scalar) }
            guard (0xD800..<0xDC00).contains(first), take("\\"), take("u") else { throw .malformed }
            let second = try codeUnit()
            guard (0xDC00..<0xE000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            else { throw .malformed }
            return Character(scalar)
        }

        private mutating func codeUnit() throws(StrictJSON.Fault) -> UInt32 {
            var unit: UInt32 = 0
            for _ in 0..<4 {
                guard let byte, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                    throw .malformed
                }
                unit = unit << 4 | UInt32(digit)
                next += 1
            }
            return unit
        }
    }
#endif
