#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Dates in header fields (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Hyphens between day, month and year are accepted as well. The two obsolete formats of the RFC are not supported.
enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    static func parse(_ text: String) -> Date? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" })
        guard words.count == 6, words[5] == "GMT" || words[5] == "UTC", let day = Int(words[1]), (1...31).contains(day),
            let month = months.firstIndex(of: words[2].lowercased()), let year = Int(words[3]),
            (1...9999).contains(year)
        else { return nil }
        let clock = words[4].split(separator: ":").compactMap { Int($0) }
        guard clock.count == 3, (0..<24).contains(clock[0]), (0..<60).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        let days = daysSince1970(year: year, month: month + 1, day: day)
        return Date(timeIntervalSince1970: Double(days * 86400 + clock[0] * 3600 + clock[1] * 60 + clock[2]))
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
