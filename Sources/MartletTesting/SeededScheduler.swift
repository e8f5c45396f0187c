#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// Runs concurrent code on one thread, in an order that a seed decides: the same seed, the same interleaving.
///
/// What goes wrong once in a million runs goes wrong with one seed each time. While a run is on, every job of the
/// process (a piece of a task, from one suspension to the next) goes to a queue of this scheduler, and a seeded generator
/// picks the next one. When nothing is left to do but to wait, the clock moves on to the next one who sleeps.
///
/// ```swift
/// for seed in 0..<100_000 {
///     let scheduler = SeededScheduler(seed: UInt64(seed))
///     let run = try scheduler.run { [time = scheduler.time] in
///         let tokens = TokenManager(baseURL: "…", store: .inMemory, refresher: refresher, time: time)
///         async let one = try? tokens.validToken()
///         async let other: Void = tokens.signOut()
///         _ = await (one, other)
///     }
///     guard case .returned = run.outcome else { fatalError("seed \(seed): \(run.outcome)") }
/// }
/// ```
///
/// Run it in an executable of its own, from the main thread and from code that is not asynchronous: the jobs of everything
/// else in the process, such as tests that run at the same time, would go through the same queue. Actors, task groups,
/// streams, continuations and the main actor are all under control. Threads are not: what comes back from a
/// `DispatchQueue` or from `URLSession` comes when it comes, and since Swift 6.3 `Task.sleep` and `Task.yield` go past
/// every queue but the system's (``Run/foreignJobs`` counts what comes from there). Let code sleep on ``time``, and use
/// ``pause()``. The order of a `Set` or a `Dictionary` is another one in each process, unless
/// `SWIFT_DETERMINISTIC_HASHING=1` is in the environment.
public struct SeededScheduler: Sendable {
    /// What decides the order.
    public let seed: UInt64
    /// The clock that moves on when all wait. Give it to the code that runs.
    public let time: ManualTimeSource
    /// After so many jobs a run counts as endless. Default one million.
    public var jobLimit = 1_000_000

    /// A scheduler for one run.
    /// - Parameters:
    ///   - seed: What decides the order.
    ///   - time: The clock that moves on when all wait.
    public init(seed: UInt64, time: ManualTimeSource = ManualTimeSource()) {
        self.seed = seed
        self.time = time
    }

    /// How a run went.
    public struct Run<Value: Sendable>: Sendable {
        /// How it ended.
        public let outcome: Outcome<Value>
        /// How many jobs were run.
        public let jobs: Int
        /// How often the clock moved on.
        public let moments: Int
        /// How many jobs came from other threads. Where there are any, a run may not be repeatable.
        public let foreignJobs: Int
        /// Every choice that was made, as one number: equal for equal runs.
        public let digest: UInt64
    }

    /// How a run ended.
    public enum Outcome<Value: Sendable>: Sendable {
        /// The body returned, and then everything that it had started came to rest.
        case returned(Value)
        /// Nothing was left to do, nobody slept, and the body had not returned: a deadlock, a continuation that nobody
        /// resumed, or a wait for something that is not under control.
        case stuck
        /// ``SeededScheduler/jobLimit`` was reached. What was left to do is never done.
        case endless
    }

    /// There are no hooks in this process: the concurrency runtime is linked in a way that hides them.
    public struct Unavailable: Error, CustomStringConvertible {
        /// What to do about it.
        public var description: String {
            "The concurrency runtime's hooks were not found. Link the Swift standard library dynamically, or export its symbols."
        }
    }

    /// Runs the body and everything that it starts, until nothing is left to do.
    /// - Parameter body: What is run. It should not return before what it started is done, or it will not be known
    ///   whether that ever was.
    /// - Throws: ``Unavailable``.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) throws(Unavailable) -> Run<Value> {
        guard let hooks = JobHooks.shared else { throw Unavailable() }
        let queue = JobQueue(seed: seed)
        let result = Guarded<Value?>(nil)
        return hooks.capture(into: queue) {
            Task {
                let value = await body()
                result.withLock { $0 = value }
            }
            let isEndless = !drain(queue) { result.withLock { $0 != nil } }
            let outcome: Outcome<Value> =
                if isEndless { .endless } else if let value = result.withLock({ $0 }) { .returned(value) } else {
                    .stuck
                }
            return Run(
                outcome: outcome, jobs: queue.jobs, moments: queue.moments, foreignJobs: queue.foreignJobs,
                digest: queue.digest)
        }
    }

    /// Lets others go first, as `Task.yield()` does; in a run, the seed decides who goes on.
    public static func pause() async {
        guard JobHooks.queueOfThisThread != nil else { return await Task.yield() }
        await withUnsafeContinuation { continuation in
            if let queue = JobHooks.queueOfThisThread { queue.append(continuation) } else { continuation.resume() }
        }
    }

    /// - Returns: Whether it came to an end.
    private func drain(_ queue: JobQueue, hasReturned: () -> Bool) -> Bool {
        while true {
            if queue.runNext() {
                if queue.jobs > jobLimit { return false }
            } else if queue.takeForeignJobs() {
                continue
            } else if time.advanceToNextSleeper() {
                queue.moments += 1
            } else if hasReturned() || !waitForForeignJobs(queue) {
                return true
            }
        }
    }

    /// Gives other threads a tenth of a second before a run counts as stuck.
    private func waitForForeignJobs(_ queue: JobQueue) -> Bool {
        let deadline = ContinuousClock.now + .milliseconds(100)
        while ContinuousClock.now < deadline {
            if queue.takeForeignJobs() { return true }
            usleep(1000)
        }
        return false
    }
}
