#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads a `Retry-After` field in both formats (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// The time to wait, which is not negative.
    /// - Returns: `nil` if there is no field, or if it has neither format.
    static func parse(_ text: String?, now: Date) -> Duration? {
        guard let text = text?.filter({ $0 != "\t" }), !text.isEmpty else { return nil }
        if let seconds = Double(text), seconds.isFinite {
            return .seconds(min(max(seconds, 0), 1e9))
        }
        return HTTPDate.parse(text).map { .seconds(max($0.timeIntervalSince(now), 0)) }
    }
}
