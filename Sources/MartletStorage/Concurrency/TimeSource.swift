#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A monotonic clock, a wall clock and a way to sleep. Replace it in tests, so that no test waits in real time.
///
/// `MartletTesting` has a `ManualTimeSource`, which a test advances by hand.
public protocol TimeSource: Sendable {
    /// The time since a fixed start. It never goes back, and it advances while the device sleeps.
    var uptime: Duration { get }
    /// The wall clock, which the user may change.
    var wallClock: Date { get }
    /// Returns when ``uptime`` has reached `deadline`. Throws `CancellationError` if the task is cancelled.
    func sleep(until deadline: Duration) async throws
}

extension TimeSource where Self == SystemTimeSource {
    /// The system's clocks.
    package static var system: SystemTimeSource { SystemTimeSource() }
}

/// The system's clocks: `ContinuousClock` and the wall clock.
package struct SystemTimeSource: TimeSource {
    private static let start = ContinuousClock.now

    package init() {
        _ = Self.start
    }

    /// The time since the first use in this process, on `ContinuousClock`.
    package var uptime: Duration { Self.start.duration(to: .now) }

    /// The wall clock.
    package var wallClock: Date { Date() }

    /// Sleeps on `ContinuousClock`.
    package func sleep(until deadline: Duration) async throws {
        // The runtime traps on deadlines that its clocks cannot represent, so a century is the maximum.
        let deadline = min(deadline, .seconds(3_000_000_000))
        try await Task.sleep(until: Self.start.advanced(by: deadline), clock: .continuous)
    }
}

extension Duration {
    /// Creates a duration from a server's number of seconds; `nil` if the number is so large that `seconds(_:)` would
    /// trap.
    package init?(untrusted seconds: Double) {
        guard abs(seconds) < 1e12 else { return nil }
        self = .seconds(seconds)
    }

    /// The duration in seconds, for use with `Date`.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
