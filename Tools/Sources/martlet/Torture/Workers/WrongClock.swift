internal import Foundation
internal import Martlet

/// The system's clocks, with a wall clock that is wrong.
struct WrongClock: TimeSource {
    /// The time by which the wall clock is ahead; negative if it is behind.
    let offset: Duration
    private let start = ContinuousClock.now

    init(offset: Duration) {
        self.offset = offset
    }

    var uptime: Duration { start.duration(to: .now) }

    var wallClock: Date { Date(timeIntervalSinceNow: offset.inMilliseconds / 1000) }

    func sleep(until deadline: Duration) async throws {
        // The runtime traps on deadlines that its clocks cannot represent, so a century is the maximum.
        try await Task.sleep(until: start.advanced(by: min(deadline, .seconds(3_000_000_000))), clock: .continuous)
    }
}
