/// Runs concurrent code in steps on one thread: after each event that a search causes, it runs all jobs in the order in
/// which they were enqueued.
///
/// A ``SeededScheduler`` picks the order of the jobs and the time at which they run. Here the caller decides when time
/// passes and when an operation ends, so that it can try every sequence of such events.
struct StepScheduler {
    private let queue: JobQueue

    /// Sends all jobs of the process to a queue while `body` runs, which must not suspend.
    static func run<Result>(
        _ body: (StepScheduler) -> Result
    ) throws(SeededScheduler.Unavailable) -> Result {
        guard let hooks = JobHooks.shared else { throw SeededScheduler.Unavailable() }
        let queue = JobQueue(seed: 0)
        return hooks.capture(into: queue) { body(StepScheduler(queue: queue)) }
    }

    /// Lets an event happen, and runs all its jobs before those that were enqueued earlier.
    /// - Returns: `false` if jobs of the event remain after `limit` of them have run.
    func overtake(atMost limit: Int, _ event: () -> Void) -> Bool {
        queue.hold()
        event()
        defer { queue.resumeHeld() }
        return runJobs(atMost: limit)
    }

    /// Runs jobs until there are none.
    /// - Returns: `false` if jobs remain after `limit` of them have run.
    func runJobs(atMost limit: Int) -> Bool {
        for _ in 0..<limit where !queue.runFirst() { return true }
        return false
    }
}
