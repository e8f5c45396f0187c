import Crypto
import Foundation

enum RandomBytes {
    /// `count` bytes from the system's secure generator.
    static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// A short identifier without meaning.
    static func identifier() -> String {
        UUID().uuidString.lowercased()
    }
}

extension Sequence<UInt8> {
    /// Base64 in the alphabet of URLs, without padding (RFC 4648 section 5).
    var base64URL: String {
        Data(self).base64EncodedString()
            .replacing("+", with: "-")
            .replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// Two lowercase hexadecimal digits a byte.
    var hexadecimal: String {
        var text = ""
        for byte in self {
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
        return text
    }
}

/// Compares without leaving at the first difference, so that the time taken says nothing about where it is.
func constantTimeEquals(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
