import Foundation

/// HMAC with SHA-256 (RFC 2104, FIPS 180-4), to check a signature without another library.
enum SHA256Reference {
    /// The code of a message, in hexadecimal digits.
    static func authenticationCode(for message: Data, key: Data) -> String {
        let padded = [UInt8](key) + [UInt8](repeating: 0, count: 64 - key.count)
        let inner = hash(padded.map { $0 ^ 0x36 } + message)
        return hash(padded.map { $0 ^ 0x5c } + inner).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    static func hash(_ message: [UInt8]) -> [UInt8] {
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: (message.count * 8) >> (8 * $0)) }
        var state = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
        let constants = primes.map { fraction(cbrt(Double($0))) }
        for start in stride(from: 0, to: bytes.count, by: 64) {
            var words = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[start + word * 4 + $1]) }
            }
            for index in 16..<64 {
                let (a, b) = (words[index - 15], words[index - 2])
                let first = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3
                let second = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10
                words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
            var next = state
            for index in 0..<64 {
                let (a, b, c, e, f, g) = (next[0], next[1], next[2], next[4], next[5], next[6])
                let choice: UInt32 = (e & f) ^ (~e & g)
                let majority: UInt32 = (a & b) ^ (a & c) ^ (b & c)
                let mixed: UInt32 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
                let sum: UInt32 = next[7] &+ mixed &+ choice
                let first: UInt32 = sum &+ constants[index] &+ words[index]
                let other: UInt32 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
                let second: UInt32 = other &+ majority
                next = [first &+ second, a, b, c, next[3] &+ first, e, f, g]
            }
            state = zip(state, next).map { $0 &+ $1 }
        }
        return state.flatMap { word in (0..<4).reversed().map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    private static let primes = (2...311).filter { number in !(2..<number).contains { number % $0 == 0 } }

    /// The first 32 bits of the fraction.
    private static func fraction(_ number: Double) -> UInt32 {
        UInt32((number - number.rounded(.down)) * 4_294_967_296)
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }
}
