public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A time source that advances only when a test tells it to, so that a test that spans hours takes no time.
///
/// ```swift
/// let time = ManualTimeSource()
/// let tokens = TokenManager(baseURL: "…", store: .inMemory, refresher: refresher, time: time)
/// time.advance(by: .seconds(3600))         // the access token has expired, and tasks whose sleep is over continue
/// ```
public final class ManualTimeSource: TimeSource {
    /// A task that sleeps until its deadline.
    private struct Sleeper {
        let deadline: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// A test that waits until a number of tasks sleep until `earliest` or later.
    private struct Watcher {
        let count: Int
        let earliest: Duration
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Both clocks, the sleeping tasks, and the tests that wait for them.
    private struct State {
        var uptime = Duration.zero
        var wallClock: Date
        var sleepers: [Int: Sleeper] = [:]
        var lastID = 0
        var cancelledEarly: Set<Int> = []
        var watchers: [Watcher] = []

        /// Whether enough tasks sleep for the watcher to continue.
        func satisfies(_ watcher: Watcher) -> Bool {
            sleepers.values.count { $0.deadline >= watcher.earliest } >= watcher.count
        }
    }

    private let state: Locked<State>

    /// Creates a time source.
    /// - Parameter wallClock: The initial time of the wall clock. By default, a day in 2026.
    public init(wallClock: Date = Date(timeIntervalSince1970: 1_790_000_000)) {
        state = Locked(State(wallClock: wallClock))
    }

    /// The monotonic time since creation.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// The time of the wall clock.
    public var wallClock: Date { state.withLock { $0.wallClock } }

    /// The number of sleeping tasks.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Advances both clocks and wakes the tasks whose deadline has passed, in the order of their deadlines.
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

    /// Advances both clocks to the earliest deadline of a sleeping task.
    /// - Returns: `false` if no task sleeps.
    @discardableResult
    public func advanceToNextSleeper() -> Bool {
        let wait = state.withLock { state in
            state.sleepers.values.map(\.deadline).min().map { max($0 - state.uptime, .zero) }
        }
        if let wait { advance(by: wait) }
        return wait != nil
    }

    /// Advances both clocks in steps until an operation has returned, whose tasks sleep at times that a test cannot
    /// know.
    /// - Returns: The result of the operation.
    package func advance<Value: Sendable>(
        by step: Duration, until operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let hasReturned = Locked(false)
        let task = Task {
            defer { hasReturned.withLock { $0 = true } }
            return try await operation()
        }
        while !hasReturned.withLock({ $0 }) {
            advance(by: step)
            // On a busy machine, the clock must not pass a time limit before the operation has had its turn.
            for _ in 0..<20 { await Task.yield() }
        }
        return try await task.value
    }

    /// Sets only the wall clock, as a user can at any time.
    public func setWallClock(_ date: Date) {
        state.withLock { $0.wallClock = date }
    }

    /// Sleeps until ``uptime`` reaches the deadline.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let slept = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let (response, watchers) = state.withLock { state -> (Bool?, [Watcher]) in
                    if state.cancelledEarly.contains(id) { return (false, []) }
                    if deadline <= state.uptime { return (true, []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    let satisfied = state.watchers.filter(state.satisfies)
                    state.watchers.removeAll(where: state.satisfies)
                    return (nil, satisfied)
                }
                if let response { continuation.resume(returning: response) }
                for watcher in watchers { watcher.continuation.resume() }
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

    /// Waits until at least this many tasks sleep, so that a test does not advance the clock too early.
    /// - Parameters:
    ///   - count: The number of tasks.
    ///   - remaining: The minimum time that each of them still has to sleep.
    public func waitForSleepers(_ count: Int = 1, for remaining: Duration = .zero) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isSatisfied = state.withLock { state in
                let watcher = Watcher(count: count, earliest: state.uptime + remaining, continuation: continuation)
                if state.satisfies(watcher) { return true }
                state.watchers.append(watcher)
                return false
            }
            if isSatisfied { continuation.resume() }
        }
    }
}
