#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Dates in ISO 8601, with and without fractions of a second.
enum ISO8601 {
    static func parse(_ text: String) -> Date? {
        let plain = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        // Try the likelier format first. Foundation versions differ in which inputs each format accepts.
        return text.contains(".")
            ? (try? fractional.parse(text)) ?? (try? plain.parse(text))
            : (try? plain.parse(text)) ?? (try? fractional.parse(text))
    }

    static func format(_ date: Date) -> String {
        let hasFraction = date.timeIntervalSince1970.rounded() != date.timeIntervalSince1970
        return Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).format(date)
    }
}
