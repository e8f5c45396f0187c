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
        // One form is the likelier one, going by the text, but Foundations differ in how strict each is.
        return text.contains(".")
            ? (try? fractional.parse(text)) ?? (try? plain.parse(text))
            : (try? plain.parse(text)) ?? (try? fractional.parse(text))
    }

    static func format(_ date: Date) -> String {
        let hasFraction = date.timeIntervalSince1970.rounded() != date.timeIntervalSince1970
        return Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).format(date)
    }
}
