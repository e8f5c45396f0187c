public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Clocks that move only when told to, so that a test of what takes hours takes no time.
///
/// ```swift
/// let time = ManualTimeSource()
/// let tokens = TokenManager(baseURL: "…", store: .inMemory, refresher: refresher, time: time)
/// time.advance(by: .seconds(3600))         // the token has expired, and whoever slept until now is awake
/// ```
public final class ManualTimeSource: TimeSource {
    private struct Sleeper {
        let deadline: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var uptime = Duration.zero
        var wallClock: Date
        var sleepers: [Int: Sleeper] = [:]
        var lastID = 0
        var cancelledEarly: Set<Int> = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Guarded<State>

    /// Clocks that stand still.
    /// - Parameter wallClock: What the wall clock shows; some day in 2026 by default.
    public init(wallClock: Date = Date(timeIntervalSince1970: 1_790_000_000)) {
        state = Guarded(State(wallClock: wallClock))
    }

    /// Time since the start, as far as it was advanced.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// The wall clock, as far as it was advanced or set.
    public var wallClock: Date { state.withLock { $0.wallClock } }

    /// How many tasks sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves both clocks on and wakes whoever slept until then, the earliest first.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state -> [Sleeper] in
            state.uptime += duration
            let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
            state.wallClock = state.wallClock.addingTimeInterval(seconds)
            let due = state.sleepers.filter { $0.value.deadline <= state.uptime }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
        }
        for sleeper in woken { sleeper.continuation.resume(returning: true) }
    }

    /// Moves on to the moment at which the next sleeper wakes up, if anybody sleeps.
    /// - Returns: Whether anybody did.
    @discardableResult
    public func advanceToNextSleeper() -> Bool {
        let wait = state.withLock { state in
            state.sleepers.values.map(\.deadline).min().map { max($0 - state.uptime, .zero) }
        }
        if let wait { advance(by: wait) }
        return wait != nil
    }

    /// Sets the wall clock alone, as a person may at any time.
    public func setWallClock(_ date: Date) {
        state.withLock { $0.wallClock = date }
    }

    /// Sleeps until the clock has been advanced that far.
    public func sleep(until deadline: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let slept = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let (answer, watchers) = state.withLock { state -> (Bool?, [CheckedContinuation<Void, Never>]) in
                    if state.cancelledEarly.contains(id) { return (false, []) }
                    if deadline <= state.uptime { return (true, []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    let count = state.sleepers.count
                    let satisfied = state.watchers.filter { $0.count <= count }.map(\.continuation)
                    state.watchers.removeAll { $0.count <= count }
                    return (nil, satisfied)
                }
                if let answer { continuation.resume(returning: answer) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                state.cancelledEarly.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(returning: false)
        }
        state.withLock { _ = $0.cancelledEarly.remove(id) }
        guard slept else { throw CancellationError() }
    }

    /// Returns once so many tasks sleep, so that a test advances the clock at the right moment.
    public func waitForSleepers(_ count: Int = 1) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isSatisfied = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isSatisfied { continuation.resume() }
        }
    }
}
