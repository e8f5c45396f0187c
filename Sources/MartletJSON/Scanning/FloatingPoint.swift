/// The properties of a binary floating-point type that the exact conversion needs.
protocol DecimalConvertible: BinaryFloatingPoint & LosslessStringConvertible & Sendable {
    /// The value of an integer of `significandBitCount + 1` bits and a power of two. Infinite if it is too large.
    static func scaled(_ significand: UInt64, _ exponent: Int, isNegative: Bool) -> Self
}

extension Double: DecimalConvertible {
    @inline(__always)
    static func scaled(_ significand: UInt64, _ exponent: Int, isNegative: Bool) -> Double {
        let biased = UInt64(truncatingIfNeeded: exponent + 1075)
        let bits = biased << 52 | significand & (1 << 52 - 1)
        return Double(bitPattern: bits | (isNegative ? 1 << 63 : 0))
    }
}

extension Float: DecimalConvertible {
    @inline(__always)
    static func scaled(_ significand: UInt64, _ exponent: Int, isNegative: Bool) -> Float {
        let value = Float(sign: .plus, exponent: exponent, significand: Float(significand))
        return isNegative ? -value : value
    }
}

extension NumberText {
    /// The nearest value, if it is finite. A nonzero number may become zero only if the caller allows it.
    @inline(__always)
    func floatingPoint<Value: DecimalConvertible>(_ type: Value.Type, canVanish: Bool = false) -> Value? {
        var next = start
        let isNegative = next.pointee == Byte.minus
        if isNegative { next += 1 }
        guard next < limit, Byte.digit(next.pointee) < 10 else { return nil }
        var mantissa: UInt64 = 0
        var digits = 0
        var exponent = 0
        while next < limit {
            let digit = Byte.digit(next.pointee)
            if digit >= 10 { break }
            mantissa = mantissa &* 10 &+ UInt64(digit)
            if digits > 0 || digit > 0 { digits += 1 }
            next += 1
        }
        if next < limit, next.pointee == Byte.point {
            next += 1
            let first = next
            while next < limit {
                let digit = Byte.digit(next.pointee)
                if digit >= 10 { break }
                mantissa = mantissa &* 10 &+ UInt64(digit)
                if digits > 0 || digit > 0 { digits += 1 }
                next += 1
            }
            exponent = first - next
        }
        if next < limit, Byte.isExponent(next.pointee) { exponent += Self.exponent(&next, limit) }
        // Nineteen digits fit the mantissa. Leading zeros do not count.
        guard digits <= 19, -27...27 ~= exponent else { return slowFloatingPoint(type, canVanish) }
        return Self.nearest(mantissa, exponent, isNegative: isNegative)
    }

    @inline(never)
    private func slowFloatingPoint<Value: DecimalConvertible>(_ type: Value.Type, _ canVanish: Bool) -> Value? {
        guard let value = Value(string), value.isFinite, value != 0 || canVanish || isZero else { return nil }
        return value
    }

    private var isZero: Bool {
        var next = start
        while next < limit, next.pointee == Byte.minus || next.pointee == Byte.point || Byte.digit(next.pointee) < 10 {
            if 1..<10 ~= Byte.digit(next.pointee) { return false }
            next += 1
        }
        return true
    }

    /// The nearest value to `mantissa * 10^exponent`, ties to even.
    @inline(__always)
    private static func nearest<Value: DecimalConvertible>(
        _ mantissa: UInt64, _ exponent: Int, isNegative: Bool
    ) -> Value? {
        if mantissa == 0 { return isNegative ? -0.0 : 0.0 }
        if mantissa < 1 << UInt64(Value.significandBitCount), exponent == 0 {
            return isNegative ? -Value(mantissa) : Value(mantissa)
        }
        var (bits, scale, isInexact) = scaled(mantissa, exponent)
        let empty = bits.leadingZeroBitCount
        bits <<= UInt64(empty)
        scale -= empty
        let dropped = UInt64(63 - Value.significandBitCount)
        var significand = bits >> dropped
        let rest = bits & (1 << dropped - 1)
        let half: UInt64 = 1 << (dropped - 1)
        if rest > half || rest == half && (isInexact || significand & 1 == 1) {
            significand += 1
            if significand >> UInt64(Value.significandBitCount + 1) != 0 {
                significand >>= 1
                scale += 1
            }
        }
        let value = Value.scaled(significand, scale + Int(dropped), isNegative: isNegative)
        return value.isFinite ? value : nil
    }

    /// The number `mantissa * 10^exponent` as `bits * 2^scale`, rounded down. 5^27 is the largest power of five in 64
    /// bits, so the product or quotient is exact up to a remainder that is only compared with zero.
    @inline(__always)
    private static func scaled(_ mantissa: UInt64, _ exponent: Int) -> (bits: UInt64, scale: Int, isInexact: Bool) {
        guard exponent < 0 else {
            let product = mantissa.multipliedFullWidth(by: power(ofFive: exponent))
            let shift = 64 - product.high.leadingZeroBitCount
            if shift == 0 { return (product.low, exponent, false) }
            // Smart shifts by 64 bits give zero.
            let bits = product.high << UInt64(64 - shift) | product.low >> UInt64(shift)
            return (bits, exponent + shift, product.low << UInt64(64 - shift) != 0)
        }
        let divisor = power(ofFive: -exponent)
        let (up, down) = (mantissa.leadingZeroBitCount, divisor.leadingZeroBitCount)
        // Both have their highest bit set, so the high word below is smaller than the divisor, and the quotient has at
        // least 63 bits.
        let high = mantissa << UInt64(up)
        let (quotient, remainder) = (divisor << UInt64(down)).dividingFullWidth((high >> 1, high << 63))
        return (quotient, down - up - 63 + exponent, remainder != 0)
    }

    @inline(__always)
    private static func power(ofFive exponent: Int) -> UInt64 { powersOfFive[exponent] }

    private static let powersOfFive: [UInt64] = (0...27).map { exponent in
        (0..<exponent).reduce(1) { power, _ in power * 5 }
    }
}
