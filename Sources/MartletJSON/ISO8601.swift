#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Dates in ISO 8601.
package enum ISO8601 {
    /// Reads a date with or without a fraction of a second, in any form that Foundation accepts.
    package static func date(_ text: String) -> Date? {
        if let date = text.utf8.withContiguousStorageIfAvailable(usualDate), let date { return date }
        let plain = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        // Try the likelier format first. Foundation versions differ in which inputs each format accepts.
        return text.utf8.contains(UInt8(ascii: "."))
            ? (try? fractional.parse(text)) ?? (try? plain.parse(text))
            : (try? plain.parse(text)) ?? (try? fractional.parse(text))
    }

    /// Reads the forms that almost every server sends: `2026-01-31T23:59:59Z`, and with one to six digits of a fraction
    /// `2026-01-31T23:59:59.123Z`. With more digits, Foundation rounds in a way of its own.
    static func usualDate(_ text: UnsafeBufferPointer<UInt8>) -> Date? {
        if text.count == 20 { return date(text) }
        guard 22...27 ~= text.count, let bytes = text.baseAddress, bytes[19] == UInt8(ascii: "."),
            bytes[text.count - 1] == UInt8(ascii: "Z"), let seconds = seconds(bytes)
        else { return nil }
        var (microseconds, unit) = (0, 100_000)
        for index in 20..<(text.count - 1) {
            let digit = Byte.digit(bytes[index])
            guard digit < 10 else { return nil }
            microseconds += Int(digit) * unit
            unit /= 10
        }
        return Date(timeIntervalSinceReferenceDate: Double(seconds) + Double(microseconds) / 1_000_000)
    }

    /// Reads `2026-01-31T23:59:59Z`. `nil` for every other form, including for dates before the Gregorian calendar and
    /// for leap seconds.
    static func date(_ text: UnsafeBufferPointer<UInt8>) -> Date? {
        guard text.count == 20, let bytes = text.baseAddress, bytes[19] == UInt8(ascii: "Z"),
            let seconds = seconds(bytes)
        else { return nil }
        return Date(timeIntervalSinceReferenceDate: Double(seconds))
    }

    /// Reads `2026-01-31T23:59:59`, the first 19 bytes.
    /// - Returns: The seconds since the start of 2001, UTC.
    private static func seconds(_ bytes: UnsafePointer<UInt8>) -> Int? {
        guard bytes[4] == Byte.minus, bytes[7] == Byte.minus, bytes[10] == UInt8(ascii: "T"), bytes[13] == Byte.colon,
            bytes[16] == Byte.colon,
            let century = number(bytes), let yearOfCentury = number(bytes + 2), let month = number(bytes + 5),
            let day = number(bytes + 8), let hour = number(bytes + 11), let minute = number(bytes + 14),
            let second = number(bytes + 17)
        else { return nil }
        let year = century * 100 + yearOfCentury
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let february = isLeapYear ? 29 : 28
        let lastDay = month == 2 ? february : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
        guard year >= 1583, 1...12 ~= month, 1...lastDay ~= day, hour < 24, minute < 60, second < 60 else { return nil }
        // Years that start in March end with the leap day.
        let shiftedYear = month > 2 ? year : year - 1
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        let days = 365 * shiftedYear + shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400 + dayOfYear - 730_791
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// Two digits.
    @inline(__always)
    private static func number(_ bytes: UnsafePointer<UInt8>) -> Int? {
        let (tens, ones) = (Byte.digit(bytes[0]), Byte.digit(bytes[1]))
        return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
    }
}
