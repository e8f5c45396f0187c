#if canImport(CryptoKit) || Encryption
    /// Base64 with the alphabet for URLs and without padding (RFC 7515, section 2).
    enum Base64URL {
        /// Decodes text that has exactly one spelling: no padding, no other characters, no set bits after the last
        /// byte.
        /// - Returns: `nil` for any other text.
        static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
            var bytes: [UInt8] = []
            var bits: UInt32 = 0
            var count: UInt32 = 0
            for character in text {
                guard let value = value(of: character) else { return nil }
                bits = bits << 6 | value
                count += 6
                guard count >= 8 else { continue }
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
                bits &= 1 << count - 1
            }
            // Six remaining bits are a character that completes no byte. Set bits would allow several spellings.
            return count < 6 && bits == 0 ? bytes : nil
        }

        static func encode(_ bytes: some Sequence<UInt8>) -> String {
            var text: [UInt8] = []
            var bits: UInt32 = 0
            var count: UInt32 = 0
            for byte in bytes {
                bits = bits << 8 | UInt32(byte)
                count += 8
                while count >= 6 {
                    count -= 6
                    text.append(alphabet[Int(bits >> count & 63)])
                }
                bits &= 1 << count - 1
            }
            if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
            return String(decoding: text, as: UTF8.self)
        }

        private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

        private static func value(of character: UInt8) -> UInt32? {
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
            case UInt8(ascii: "-"): 62
            case UInt8(ascii: "_"): 63
            default: nil
            }
        }
    }
#endif
