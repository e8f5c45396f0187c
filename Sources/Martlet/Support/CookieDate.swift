#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Dates of cookies, in the many forms that servers write (RFC 6265, section 5.1.1).
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    static func parse(_ text: Substring) -> Date? {
        var (time, day, month, year): ([Int]?, Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if time == nil, let found = clock(token) {
                time = found
            } else if day == nil, let found = number(token, 1...2) {
                day = found
            } else if month == nil,
                let found = months.firstIndex(of: String(decoding: token.prefix(3), as: UTF8.self).lowercased())
            {
                month = found + 1
            } else if year == nil, let found = number(token, 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, year >= 1601, time[0] < 24, time[1] < 60, time[2] < 60,
            (1...length(of: month, year)).contains(day)
        else { return nil }
        let seconds = time[0] * 3600 + time[1] * 60 + time[2]
        return Date(
            timeIntervalSince1970: Double(
                HTTPDate.daysSince1970(year: year, month: month, day: day) * 86400 + seconds))
    }

    private static func length(of month: Int, _ year: Int) -> Int {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Hours, minutes and seconds.
    private static func clock(_ token: Substring.UTF8View) -> [Int]? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return nil }
        let numbers = [
            number(parts[0], 1...2, isWhole: true), number(parts[1], 1...2, isWhole: true), number(parts[2], 1...2),
        ]
        let found = numbers.compactMap { $0 }
        return found.count == 3 ? found : nil
    }

    /// The number at the start of a token, if it has a permitted count of digits.
    private static func number(
        _ token: Substring.UTF8View, _ digits: ClosedRange<Int>, isWhole: Bool = false
    ) -> Int? {
        let found = token.prefix { (0x30...0x39).contains($0) }
        guard digits.contains(found.count), !isWhole || found.count == token.count else { return nil }
        return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
