/// Reads numbers of any number of bits, highest bit first.
struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the next number of `count` bits, at most 32; `nil` if the bytes end before.
    mutating func next(_ count: Int) -> Int? {
        guard count <= bytes.count * 8 - position else { return nil }
        var value: UInt64 = 0
        for _ in 0..<count {
            value = value << 1 | UInt64(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
            position += 1
        }
        return Int(Int32(clamping: value))
    }

    mutating func skip(_ count: Int) -> Bool {
        guard count <= bytes.count * 8 - position else { return false }
        position += count
        return true
    }

    /// Reads an Exp-Golomb code (ITU-T H.265, 9.2).
    mutating func nextGolomb() -> Int? {
        var zeros = 0
        while true {
            guard let bit = next(1) else { return nil }
            if bit == 1 { break }
            zeros += 1
            guard zeros < 31 else { return nil }
        }
        return next(zeros).map { (1 << zeros) - 1 + $0 }
    }
}
