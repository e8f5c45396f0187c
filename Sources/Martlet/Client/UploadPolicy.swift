/// What is done before a body goes out that takes its time, or that can be sent only once.
///
/// A 401 that comes after a gigabyte costs that gigabyte, and a body that is spent cannot be sent again at all. So a token
/// that would die on the way is renewed first. How long the way is can only be estimated.
///
/// ```swift
/// var config = NetworkConfig()
/// config.uploads.bytesPerSecond = 250_000      // field workers on a weak network
/// ```
public struct UploadPolicy: Sendable, Hashable {
    /// How many bytes a second the network is taken to carry. Default 1,000,000. Values that are not above zero count as 1.
    public var bytesPerSecond: Double = 1_000_000
    /// How long a body is taken to need whose length nobody knows. Default 60 s.
    public var timeForUnknownLength: Duration = .seconds(60)
    /// From which length on, in bytes, the server is asked before the body goes out (`Expect: 100-continue`, RFC 9110,
    /// section 10.1.1), where the transport can wait for its answer (``Transport/waitsForContinue``). `nil` never asks. A
    /// body that can be sent only once never asks either: transports have read it by then, and a server that knows nothing
    /// of such questions (417) could not be sent it again. Default 1 MiB.
    public var expectContinueThreshold: Int64? = 1 << 20

    /// The defaults.
    public init() {}

    /// Bodies that are on their way sooner than this need no thought.
    private static let briefly: Duration = .seconds(1)

    /// How long a body may be on its way; `nil` where that needs no thought.
    func transferTime(of body: PreparedBody) -> Duration? {
        guard let length = body.length else { return timeForUnknownLength }
        let rate = bytesPerSecond > 0 ? bytesPerSecond : 1
        // Far beyond any token's life, and well within what a duration can hold.
        let time = Duration.seconds(min(Double(length) / rate, 1e9))
        return time > Self.briefly ? time : (body.isReplayable ? nil : Self.briefly)
    }

    /// Whether the server is asked first.
    func expectsContinue(_ body: PreparedBody) -> Bool {
        guard let expectContinueThreshold, body.isReplayable else { return false }
        return body.length.map { $0 >= expectContinueThreshold } ?? true
    }
}
