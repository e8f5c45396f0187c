#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Dates in header fields (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, and the obsolete formats `Sunday,
/// 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    static func parse(_ text: String) -> Date? {
        var words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" })
        // The format of `asctime`: month before day, the year last, and no time zone.
        if words.count == 5 { words = [words[0], words[2], words[1], words[4], words[3], "GMT"] }
        guard words.count == 6, words[5] == "GMT" || words[5] == "UTC", let day = Int(words[1]), (1...31).contains(day),
            let month = months.firstIndex(of: words[2].lowercased()), let year = year(words[3])
        else { return nil }
        let clock = words[4].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3, (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        let days = daysSince1970(year: year, month: month + 1, day: day)
        return Date(timeIntervalSince1970: Double(days * 86400 + clock[0] * 3600 + clock[1] * 60 + clock[2]))
    }

    /// A year of four digits, or of two: then it is not more than about 50 years in the future.
    private static func year(_ digits: Substring) -> Int? {
        guard let year = Int(digits), year >= 0 else { return nil }
        switch digits.utf8.count {
        case 2: return year < 70 ? 2000 + year : 1900 + year
        case 4 where year > 0: return year
        default: return nil
        }
    }

    /// Days since 1 January 1970 in the proleptic Gregorian calendar. Years start in March, so that the leap day is the
    /// last day of its year.
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + dayOfYear - 719_468
    }
}
