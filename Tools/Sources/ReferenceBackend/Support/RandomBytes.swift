import Crypto
import Foundation

/// Random bytes and identifiers.
enum RandomBytes {
    /// `count` bytes from the system's secure generator.
    static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    static func identifier() -> String {
        UUID().uuidString.lowercased()
    }
}

extension Sequence<UInt8> {
    /// URL-safe Base64 without padding (RFC 4648 section 5).
    var base64URL: String {
        Data(self).base64EncodedString()
            .replacing("+", with: "-")
            .replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// Lowercase hexadecimal, two digits a byte.
    var hexadecimal: String {
        var text = ""
        for byte in self {
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
        return text
    }
}

/// Compares in constant time, so that the duration does not reveal the position of the first difference.
func constantTimeEquals(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
