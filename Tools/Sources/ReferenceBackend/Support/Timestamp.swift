import Foundation

/// An instant in milliseconds since 1970, the resolution of the backend's database and protocol.
struct Timestamp: Hashable, Comparable, Sendable {
    var milliseconds: Int64

    static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// The current time of a wall clock that is off by `offset`.
    static func now(offsetBy offset: Duration = .zero) -> Timestamp {
        let wallClock = Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
        return Timestamp(milliseconds: wallClock) + offset
    }

    static func + (instant: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: instant.milliseconds + duration.wholeMilliseconds)
    }

    static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds - earlier.milliseconds)
    }

    /// `2026-01-31T09:05:00.250Z`
    var iso8601: String {
        let time = CalendarTime(self)
        let date = "\(time.year)-\(pad(time.month))-\(pad(time.day))"
        let clock = "\(pad(time.hour)):\(pad(time.minute)):\(pad(time.second)).\(pad(time.millisecond, to: 3))"
        return "\(date)T\(clock)Z"
    }

    /// The format of RFC 9110's `Date` field: `Sat, 31 Jan 2026 09:05:00 GMT`
    var httpDate: String {
        let time = CalendarTime(self)
        let clock = "\(pad(time.hour)):\(pad(time.minute)):\(pad(time.second))"
        return "\(time.weekdayName), \(pad(time.day)) \(time.monthName) \(pad(time.year, to: 4)) \(clock) GMT"
    }

    private func pad(_ number: Int, to width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// The calendar components of an instant in UTC (proleptic Gregorian calendar). Computed by hand, because a date
/// formatter would take longer than the rest of a small response.
private struct CalendarTime {
    let year, month, day, hour, minute, second, millisecond, weekday: Int

    init(_ instant: Timestamp) {
        let days = Int(instant.milliseconds.flooredQuotient(by: 86_400_000))
        let inDay = Int(instant.milliseconds - Int64(days) * 86_400_000)
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        weekday = (days + 4) - (days + 4).flooredQuotient(by: 7) * 7
        hour = inDay / 3_600_000
        minute = inDay / 60_000 % 60
        second = inDay / 1000 % 60
        millisecond = inDay % 1000
    }

    var weekdayName: String { ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][weekday] }

    var monthName: String {
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][month - 1]
    }
}

extension BinaryInteger {
    fileprivate func flooredQuotient(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension Duration {
    var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
