#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The two clocks that a session needs, and a way to wait: replace it in tests, so that nothing ever waits for real.
///
/// `MartletTesting` has a `ManualTimeSource` that moves only when told to.
public protocol TimeSource: Sendable {
    /// Time since some fixed start; it never goes back and it counts while the device sleeps.
    var uptime: Duration { get }
    /// The wall clock, which a person may set to anything.
    var wallClock: Date { get }
    /// Returns once ``uptime`` has reached `deadline`, or throws `CancellationError` when the task is cancelled.
    func sleep(until deadline: Duration) async throws
}

extension TimeSource where Self == SystemTimeSource {
    /// The device's own clocks.
    public static var system: SystemTimeSource { SystemTimeSource() }
}

/// The device's own clocks: `ContinuousClock` and the wall clock.
public struct SystemTimeSource: TimeSource {
    private static let start = ContinuousClock.now

    /// The device's own clocks.
    public init() {
        _ = Self.start
    }

    /// Time since the process first asked, on `ContinuousClock`.
    public var uptime: Duration { Self.start.duration(to: .now) }

    /// The wall clock.
    public var wallClock: Date { Date() }

    /// Sleeps on `ContinuousClock`.
    public func sleep(until deadline: Duration) async throws {
        // A century is for ever, and the runtime traps on what its clocks cannot hold.
        let deadline = min(deadline, .seconds(3_000_000_000))
        try await Task.sleep(until: Self.start.advanced(by: deadline), clock: .continuous)
    }
}

extension Duration {
    /// Seconds that somebody else wrote; `nil` where there are absurdly many of them, on which `seconds(_:)` traps.
    init?(untrusted seconds: Double) {
        guard abs(seconds) < 1e12 else { return nil }
        self = .seconds(seconds)
    }

    /// The duration in seconds, as a number that `Date` understands.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
