/// Strings with escapes. The scanner has checked each escape and found both halves of each surrogate pair.
enum Escapes {
    static func resolve(_ text: UnsafeBufferPointer<UInt8>) -> String {
        // An escape is never shorter than the UTF-8 of its character.
        String(unsafeUninitializedCapacity: text.count) { output in
            guard var next = text.baseAddress, var target = output.baseAddress else { return 0 }
            let end = next + text.count
            let first = target
            while next < end {
                if end - next >= 8 {
                    // Eight bytes at a time. If one of them is a backslash, only those before it count.
                    let word = load(next)
                    UnsafeMutableRawPointer(target).storeBytes(of: word.littleEndian, as: UInt64.self)
                    let ones: UInt64 = 0x0101_0101_0101_0101
                    let difference = word ^ ones &* UInt64(Byte.backslash)
                    let found = (difference &- ones) & ~difference & (ones &* 0x80)
                    let plain = found == 0 ? 8 : found.trailingZeroBitCount >> 3
                    next += plain
                    target += plain
                    if found == 0 { continue }
                }
                if next.pointee != Byte.backslash {
                    target.pointee = next.pointee
                    next += 1
                    target += 1
                } else {
                    next = resolve(next + 1, end, into: &target)
                }
            }
            return target - first
        }
    }

    /// Appends the character of the escape after a backslash. Returns the byte after the escape.
    @inline(__always)
    private static func resolve(
        _ escape: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, into target: inout UnsafeMutablePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        let byte: UInt8
        switch escape.pointee {
        case UInt8(ascii: "b"): byte = 0x08
        case UInt8(ascii: "f"): byte = 0x0C
        case Byte.n: byte = 0x0A
        case UInt8(ascii: "r"): byte = 0x0D
        case Byte.t: byte = 0x09
        case Byte.u: return resolveUnit(escape + 1, end, into: &target)
        default: byte = escape.pointee
        }
        target.pointee = byte
        target += 1
        return escape + 1
    }

    private static func resolveUnit(
        _ digits: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, into target: inout UnsafeMutablePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var scalar = Hex.unit(digits, end) ?? 0xFFFD
        var next = digits + 4
        if 0xD800...0xDBFF ~= scalar {
            scalar = 0x10000 + (scalar - 0xD800) << 10 + ((Hex.unit(next + 2, end) ?? 0xDC00) - 0xDC00)
            next += 6
        }
        switch scalar {
        case ..<0x80:
            target[0] = UInt8(truncatingIfNeeded: scalar)
            target += 1
        case ..<0x800:
            target[0] = UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
            target[1] = trailing(scalar)
            target += 2
        case ..<0x10000:
            target[0] = UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
            target[1] = trailing(scalar >> 6)
            target[2] = trailing(scalar)
            target += 3
        default:
            target[0] = UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
            target[1] = trailing(scalar >> 12)
            target[2] = trailing(scalar >> 6)
            target[3] = trailing(scalar)
            target += 4
        }
        return next
    }

    @inline(__always)
    private static func trailing(_ bits: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | bits & 0x3F) }
}
