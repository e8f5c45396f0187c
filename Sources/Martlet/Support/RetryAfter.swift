internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads a `Retry-After` field in both formats (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// The time that a response asks clients to wait; never negative.
    ///
    /// A date is compared with the response's own `Date`, because the clock of this device may be wrong.
    /// - Parameters:
    ///   - response: The head of the response.
    ///   - deviceClock: The time by this device's clock, for a response without a valid `Date`.
    /// - Returns: `nil` if there is no field, or if it has neither format.
    static func wait(askedBy response: HTTPResponse, deviceClock: Date) -> Duration? {
        let text = response.headerFields[.retryAfter]?.filter { $0 != "\t" }
        guard let text, !text.isEmpty else { return nil }
        // Some servers send a fraction.
        let isNumber = text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
        }
        if isNumber, let seconds = Double(text) { return .seconds(min(seconds, 1e9)) }
        let now = response.headerFields[.date].flatMap(HTTPDate.parse) ?? deviceClock
        return HTTPDate.parse(text).map { .seconds(max($0.timeIntervalSince(now), 0)) }
    }
}
