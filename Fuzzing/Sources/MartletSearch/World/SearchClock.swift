@testable import Martlet
@testable import MartletStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The clocks of a world. Time passes only when the search says so, and the deadlines of all sleeping tasks are
/// visible.
///
/// `@unchecked Sendable`: a search runs on one thread.
final class SearchClock: TimeSource, @unchecked Sendable {
    private struct Sleeper {
        let id: Int
        let deadline: Duration
        let continuation: UnsafeContinuation<Bool, Never>
    }

    private(set) var uptime = Duration.zero
    private var sleepers: [Sleeper] = []
    private var lastID = 0
    private var cancelledEarly: Set<Int> = []

    private static let start = Date(timeIntervalSince1970: 1_790_000_000)

    /// The number of sign-ins and sign-outs. No two of them fall into one millisecond.
    var userActions = 0

    var wallClock: Date { Self.start + uptime.inSeconds + Double(userActions) / 1000 }

    /// The deadlines of the sleeping tasks, in the order in which they went to sleep.
    var deadlines: [Duration] { sleepers.map(\.deadline) }

    func sleep(until deadline: Duration) async throws {
        lastID += 1
        let id = lastID
        let slept = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if cancelledEarly.remove(id) != nil {
                    continuation.resume(returning: false)
                } else if deadline <= uptime {
                    continuation.resume(returning: true)
                } else {
                    sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                }
            }
        } onCancel: {
            guard let index = sleepers.firstIndex(where: { $0.id == id }) else {
                cancelledEarly.insert(id)
                return
            }
            sleepers.remove(at: index).continuation.resume(returning: false)
        }
        if !slept { throw CancellationError() }
    }

    /// Advances to an instant, but not beyond the next deadline, whose tasks wake.
    /// - Returns: Whether the instant was reached.
    func advance(to instant: Duration) -> Bool {
        let next = sleepers.map(\.deadline).min() ?? instant
        uptime = max(uptime, min(next, instant))
        let due = sleepers.filter { $0.deadline <= uptime }
        sleepers.removeAll { $0.deadline <= uptime }
        for sleeper in due { sleeper.continuation.resume(returning: true) }
        return uptime >= instant
    }

    /// Wakes all tasks with an error, because their process is dead.
    func cancelAll() {
        let all = sleepers
        sleepers = []
        for sleeper in all { sleeper.continuation.resume(returning: false) }
    }
}
