/// The pending jobs of one run. Only the thread of the run uses it.
final class JobQueue {
    /// An entry that can run next: a job, a job of the main actor, or a task in ``SeededScheduler/pause()``.
    private enum Entry {
        case job(UnownedJob)
        case mainJob(UnownedJob)
        case pause(UnsafeContinuation<Void, Never>)
    }

    private var entries: [Entry] = []
    private var held: [Entry] = []
    private var generator: SeededGenerator
    private(set) var jobs = 0
    private(set) var foreignJobs = 0
    private(set) var digest: UInt64
    var clockAdvances = 0

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        digest = seed
        entries.reserveCapacity(32)
    }

    func append(_ job: UnownedJob, isMain: Bool) {
        entries.append(isMain ? .mainJob(job) : .job(job))
    }

    func append(_ pause: UnsafeContinuation<Void, Never>) {
        entries.append(.pause(pause))
    }

    /// Runs the job that the generator picks.
    /// - Returns: `false` if there are no jobs.
    func runNext() -> Bool {
        guard !entries.isEmpty else { return false }
        let choice = entries.count == 1 ? 0 : generator.number(below: entries.count)
        digest = (digest ^ UInt64(truncatingIfNeeded: choice &+ entries.count << 16)) &* 0x0000_0100_0000_01B3
        entries.swapAt(choice, entries.count - 1)
        run(entries.removeLast())
        return true
    }

    /// Puts all jobs aside until ``resumeHeld()``.
    func hold() {
        held += entries
        entries = []
    }

    func resumeHeld() {
        entries += held
        held = []
    }

    /// Runs the first job in the queue.
    /// - Returns: `false` if there are no jobs.
    func runFirst() -> Bool {
        guard !entries.isEmpty else { return false }
        run(entries.removeFirst())
        return true
    }

    private func run(_ entry: Entry) {
        jobs += 1
        switch entry {
        case .job(let job): job.runSynchronously(on: JobHooks.noExecutor)
        case .mainJob(let job): job.runSynchronously(on: MainActor.sharedUnownedExecutor)
        case .pause(let continuation): continuation.resume()
        }
    }

    /// Moves the jobs from other threads to this queue.
    /// - Returns: `false` if there are none.
    func takeForeignJobs() -> Bool {
        let jobs = JobHooks.takeForeignJobs()
        foreignJobs += jobs.count
        for foreign in jobs { append(foreign.job, isMain: foreign.isMain) }
        return !jobs.isEmpty
    }
}

/// Replaces the main thread's executor during a run, so that the main actor's jobs also go to the queue.
final class SeededMainExecutor: SerialExecutor {
    static let shared = SeededMainExecutor()

    func enqueue(_ job: UnownedJob) {
        JobHooks.take(job, isMain: true) { job in SeededMainExecutor.shared.enqueueLate(job) }
    }

    /// Enqueues a job that another thread submitted just after the run had ended.
    private func enqueueLate(_ job: UnownedJob) {
        MainActor.shared.enqueue(job)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
