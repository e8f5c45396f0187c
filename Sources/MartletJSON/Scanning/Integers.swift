/// The bytes of a number that the scanner has checked, and the end of its document.
struct NumberText {
    let start: UnsafePointer<UInt8>
    let limit: UnsafePointer<UInt8>

    /// Whether the first byte is one that only a number starts with.
    @inline(__always)
    var isNumber: Bool { start.pointee == Byte.minus || Byte.digit(start.pointee) < 10 }

    /// The number as a string, for parsers of other modules.
    var string: String {
        var next = start
        while next < limit, Byte.digit(next.pointee) < 10 || "+-.eE".utf8.contains(next.pointee) { next += 1 }
        return String(decoding: UnsafeBufferPointer(start: start, count: next - start), as: UTF8.self)
    }

    /// The integer, if it is in the range of the type. A fraction or an exponent is allowed if the value is an integer.
    @inline(__always)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        var next = start
        let isNegative = next.pointee == Byte.minus
        if isNegative { next += 1 }
        let first = next
        var magnitude: UInt64 = 0
        // Eighteen digits cannot overflow.
        let safe = limit - next > 18 ? next + 18 : limit
        while next < safe {
            let digit = Byte.digit(next.pointee)
            if digit >= 10 { break }
            magnitude = magnitude &* 10 &+ UInt64(digit)
            next += 1
        }
        guard next != first else { return nil }
        if next < limit, isPartOfNumber(next.pointee) { return longInteger(type) }
        if Value.isSigned {
            let value = Int64(truncatingIfNeeded: magnitude)
            return Value(exactly: isNegative ? 0 &- value : value)
        }
        return isNegative && magnitude != 0 ? nil : Value(exactly: magnitude)
    }

    @inline(__always)
    private func isPartOfNumber(_ byte: UInt8) -> Bool {
        Byte.digit(byte) < 10 || byte == Byte.point || Byte.isExponent(byte)
    }

    /// An integer of many digits, or with a fraction or an exponent.
    @inline(never)
    private func longInteger<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        var next = start
        let isNegative = next.pointee == Byte.minus
        if isNegative { next += 1 }
        var value: Value = 0
        while next < limit, Byte.digit(next.pointee) < 10 {
            guard append(Byte.digit(next.pointee), to: &value, isNegative) else { return roundInteger(type) }
            next += 1
        }
        return next < limit && isPartOfNumber(next.pointee) ? roundInteger(type) : value
    }

    @inline(__always)
    private func append<Value: FixedWidthInteger>(_ digit: UInt8, to value: inout Value, _ isNegative: Bool) -> Bool {
        let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflows) =
            isNegative
            ? product.subtractingReportingOverflow(Value(digit)) : product.addingReportingOverflow(Value(digit))
        value = sum
        return !isTooLarge && !overflows
    }

    /// As in Foundation, a number below 2^53 is rounded to the nearest `Double`: 1.0000000000000001 is 1, and 1e-400 is
    /// 0. A larger one must be an exact integer.
    private func roundInteger<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        guard let double = floatingPoint(Double.self, canVanish: true) else { return nil }
        guard double.magnitude < 0x1p53 else { return exactInteger(type) }
        return Int64(exactly: double).flatMap { Value(exactly: $0) }
    }

    /// The digits, shifted by the exponent. Only zeros may follow the point.
    private func exactInteger<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        var digits: [UInt8] = []
        var exponent = 0
        var next = start
        let isNegative = next.pointee == Byte.minus
        if isNegative { next += 1 }
        var isFraction = false
        while next < limit, Byte.digit(next.pointee) < 10 || next.pointee == Byte.point {
            if next.pointee == Byte.point {
                isFraction = true
            } else {
                digits.append(Byte.digit(next.pointee))
                exponent -= isFraction ? 1 : 0
            }
            next += 1
        }
        if next < limit, Byte.isExponent(next.pointee) { exponent += Self.exponent(&next, limit) }
        while exponent < 0, let last = digits.last {
            guard last == 0 else { return nil }
            digits.removeLast()
            exponent += 1
        }
        var value: Value = 0
        for digit in digits where !append(digit, to: &value, isNegative) { return nil }
        for _ in 0..<max(0, exponent) where !append(0, to: &value, isNegative) { return nil }
        return value
    }

    /// Reads the signed exponent whose letter is the next byte. Stops counting at a number that no type can represent.
    static func exponent(_ next: inout UnsafePointer<UInt8>, _ limit: UnsafePointer<UInt8>) -> Int {
        next += 1
        let isNegative = next.pointee == Byte.minus
        if isNegative || next.pointee == Byte.plus { next += 1 }
        var exponent = 0
        while next < limit, Byte.digit(next.pointee) < 10 {
            if exponent < 1 << 40 { exponent = exponent * 10 + Int(Byte.digit(next.pointee)) }
            next += 1
        }
        return isNegative ? -exponent : exponent
    }
}
