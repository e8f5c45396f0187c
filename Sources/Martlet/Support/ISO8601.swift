internal import MartletJSON

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ISO8601 {
    /// Writes a date, with milliseconds if there are any.
    static func format(_ date: Date) -> String {
        let hasFraction = date.timeIntervalSince1970.rounded() != date.timeIntervalSince1970
        return Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).format(date)
    }
}
