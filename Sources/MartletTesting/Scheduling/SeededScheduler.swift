internal import Martlet

/// Runs concurrent code on one thread, in an order that depends only on a seed: the same seed gives the same
/// interleaving.
///
/// A race that fails once in a million runs fails every time with the same seed. During a run, every job of the process
/// (the part of a task between two suspension points) goes to a queue of this scheduler, and a seeded generator picks
/// the next one. If all tasks wait, the clock advances to the deadline of the next sleeping task.
///
/// ```swift
/// for seed in 0..<100_000 {
///     let scheduler = SeededScheduler(seed: UInt64(seed))
///     let run = try scheduler.run { [time = scheduler.time] in
///         let tokens = TokenManager(baseURL: "…", store: .inMemory, refresher: refresher, time: time)
///         async let one = try? tokens.validTokens().accessToken
///         async let other: Void = tokens.signOut()
///         _ = await (one, other)
///     }
///     guard case .returned = run.outcome else { fatalError("seed \(seed): \(run.outcome)") }
/// }
/// ```
///
/// Run it in a separate executable, on the main thread and from synchronous code, because the jobs of everything else
/// in the process, such as concurrent tests, would go to the same queue. The scheduler controls actors, task groups,
/// streams, continuations and the main actor, and Martlet's work on files is done by jobs of the run. It does not
/// control other threads: a `DispatchQueue` or `URLSession` delivers results at any time, and since Swift 6.3
/// `Task.sleep` and `Task.yield` use only the system's queues. ``Run/foreignJobs`` counts the jobs that other threads
/// enqueue. In the code under test, sleep on ``time`` and call ``pause()`` instead of `Task.yield()`. The order of a
/// `Set` or a `Dictionary` differs between processes unless the environment variable `SWIFT_DETERMINISTIC_HASHING` is
/// 1.
public struct SeededScheduler: Sendable {
    /// The seed, which determines the order of the jobs.
    public let seed: UInt64
    /// The clock, which advances when all tasks wait. Pass it to the code under test.
    public let time: ManualTimeSource
    /// The maximum number of jobs; after that, a run ends with ``Outcome/endless``. The default is one million.
    public var jobLimit = 1_000_000

    /// Creates a scheduler.
    /// - Parameters:
    ///   - seed: The seed, which determines the order of the jobs.
    ///   - time: The clock, which advances when all tasks wait.
    public init(seed: UInt64, time: ManualTimeSource = ManualTimeSource()) {
        self.seed = seed
        self.time = time
    }

    /// The result of a run and its statistics.
    public struct Run<Value: Sendable>: Sendable {
        /// The outcome of the run.
        public let outcome: Outcome<Value>
        /// The number of jobs that the run executed.
        public let jobs: Int
        /// The number of times the clock advanced.
        public let clockAdvances: Int
        /// The number of jobs from other threads. If it is not zero, the run may not be reproducible.
        public let foreignJobs: Int
        /// A hash of all choices of the run. Equal runs have equal digests.
        public let digest: UInt64
    }

    /// The outcome of a run.
    public enum Outcome<Value: Sendable>: Sendable {
        /// The body returned, and all jobs that it had started are finished.
        case returned(Value)
        /// The body did not return, but no job was left and no task slept: a deadlock, a continuation that was never
        /// resumed, or a wait for an event outside the scheduler's control.
        case stuck
        /// The run reached ``SeededScheduler/jobLimit``. The remaining jobs never run.
        case endless
    }

    /// The concurrency runtime of this process does not export its hooks, for example because it is linked statically.
    public struct Unavailable: Error, CustomStringConvertible {
        /// Describes the problem and how to fix it.
        public var description: String {
            "The hooks of the concurrency runtime were not found. "
                + "Link the Swift standard library dynamically, or export its symbols."
        }
    }

    /// Runs the body and all jobs that it starts, until no job is left.
    /// - Parameter body: The code under test. It should await all tasks that it starts; otherwise the outcome does not
    ///   show whether they finished.
    /// - Throws: ``Unavailable`` if the hooks of the concurrency runtime cannot be found.
    public func run<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) throws(Unavailable) -> Run<Value> {
        guard let hooks = JobHooks.shared else { throw Unavailable() }
        let queue = JobQueue(seed: seed)
        let result = Locked<Value?>(nil)
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
                outcome: outcome, jobs: queue.jobs, clockAdvances: queue.clockAdvances, foreignJobs: queue.foreignJobs,
                digest: queue.digest)
        }
    }

    /// Suspends the current task, as `Task.yield()` does. During a run, the seed decides which job runs next.
    public static func pause() async {
        guard JobHooks.queueOfThisThread != nil else { return await Task.yield() }
        await withUnsafeContinuation { continuation in
            if let queue = JobHooks.queueOfThisThread { queue.append(continuation) } else { continuation.resume() }
        }
    }

    /// - Returns: `false` if the run reached ``jobLimit``.
    private func drain(_ queue: JobQueue, hasReturned: () -> Bool) -> Bool {
        while true {
            if queue.runNext() {
                if queue.jobs > jobLimit { return false }
            } else if queue.takeForeignJobs() {
                continue
            } else if time.advanceToNextSleeper() {
                queue.clockAdvances += 1
            } else if hasReturned() || !waitForForeignJobs(queue) {
                return true
            }
        }
    }

    /// Waits up to 100 milliseconds for jobs of other threads before a run counts as stuck.
    private func waitForForeignJobs(_ queue: JobQueue) -> Bool {
        let deadline = ContinuousClock.now + .milliseconds(100)
        while ContinuousClock.now < deadline {
            if queue.takeForeignJobs() { return true }
            JobHooks.sleepThread()
        }
        return false
    }
}
