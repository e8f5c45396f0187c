internal import MartletJSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A server's metadata about a response, in the `meta` object of its envelope: for logs, and for reports to the
/// server's operator.
///
/// ``NetworkResponse/meta(as:)`` decodes a type of your own from the same object.
public struct ResponseMeta: Sendable, Hashable {
    /// The time at which the server made the response: `timestamp`, in ISO 8601 or in seconds or milliseconds since
    /// 1970.
    public var timestamp: Date?
    /// The path of the request, as the server saw it: `path`.
    public var path: String?
    /// The server's identifier for the request, in the field that ``ResponseEnvelope`` names.
    public var requestID: String?
    /// The time that the server worked on the request: `durationMs`, in milliseconds.
    public var duration: Duration?

    /// Creates metadata; meant for tests.
    public init(
        timestamp: Date? = nil, path: String? = nil, requestID: String? = nil, duration: Duration? = nil
    ) {
        self.timestamp = timestamp
        self.path = path
        self.requestID = requestID
        self.duration = duration
    }

    /// - Returns: `nil` if the value is not an object.
    init?(_ json: JSONValue?, requestIDField: String) {
        guard let json, case .object = json else { return nil }
        let time = json["timestamp"]
        self.init(
            timestamp: time?.string.flatMap { ISO8601.date($0) } ?? time?.number.flatMap(Self.date),
            path: json["path"]?.string, requestID: json[requestIDField]?.text,
            duration: json["durationMs"]?.number.flatMap(Self.duration))
    }

    private static func duration(_ milliseconds: Double) -> Duration? {
        // A number that is not a duration must not overflow.
        guard milliseconds.isFinite, milliseconds >= 0, milliseconds < 1e15 else { return nil }
        return .seconds(milliseconds / 1000)
    }

    private static func date(_ number: Double) -> Date? {
        guard number.isFinite, number > 0 else { return nil }
        return Date(timeIntervalSince1970: number > 1e11 ? number / 1000 : number)
    }
}
