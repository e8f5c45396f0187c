/// Reads numbers that are no whole bytes, the highest bit first.
struct BitReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next number of so many bits, at most 32.
    mutating func next(_ count: Int) -> Int? {
        guard count <= bytes.count * 8 - place else { return nil }
        var value: UInt64 = 0
        for _ in 0..<count {
            value = value << 1 | UInt64(bytes[place >> 3] >> UInt8(7 - place & 7) & 1)
            place += 1
        }
        return Int(Int32(clamping: value))
    }

    mutating func skip(_ count: Int) -> Bool {
        guard count <= bytes.count * 8 - place else { return false }
        place += count
        return true
    }

    /// An Exp-Golomb code: as many bits as there were zeros before the first one (ITU-T H.265, 9.2).
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
