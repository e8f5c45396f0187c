#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// What is left to do in one run; only ever touched by the thread that runs it.
final class JobQueue {
    private enum Entry {
        case job(UnownedJob)
        case mainJob(UnownedJob)
        case pause(UnsafeContinuation<Void, Never>)
    }

    private var entries: [Entry] = []
    private var generator: SeededGenerator
    private(set) var jobs = 0
    private(set) var foreignJobs = 0
    private(set) var digest: UInt64
    var moments = 0

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

    /// Runs whatever the generator picks, if there is anything.
    func runNext() -> Bool {
        guard !entries.isEmpty else { return false }
        let choice = entries.count == 1 ? 0 : generator.number(below: entries.count)
        digest = (digest ^ UInt64(truncatingIfNeeded: choice &+ entries.count << 16)) &* 0x0000_0100_0000_01B3
        entries.swapAt(choice, entries.count - 1)
        jobs += 1
        switch entries.removeLast() {
        case .job(let job): job.runSynchronously(on: JobHooks.noExecutor)
        case .mainJob(let job): job.runSynchronously(on: MainActor.sharedUnownedExecutor)
        case .pause(let continuation): continuation.resume()
        }
        return true
    }

    func takeForeignJobs() -> Bool {
        let jobs = JobHooks.takeForeignJobs()
        foreignJobs += jobs.count
        for foreign in jobs { append(foreign.job, isMain: foreign.isMain) }
        return !jobs.isEmpty
    }
}

/// Stands in for the main thread's executor while a run is on, so that the main actor's jobs are ours as well.
final class SeededMainExecutor: SerialExecutor {
    static let shared = SeededMainExecutor()

    func enqueue(_ job: UnownedJob) {
        JobHooks.take(job, isMain: true) { job in SeededMainExecutor.shared.enqueueLate(job) }
    }

    /// A job that came from another thread when the run was just over.
    private func enqueueLate(_ job: UnownedJob) {
        MainActor.shared.enqueue(job)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}

/// The places at which the concurrency runtime lets others take its jobs.
///
/// They are variables of the runtime that hold a function or nothing, meant for exactly this (see `Concurrency.h` in
/// swiftlang/swift). Each takes the job, and the function that would have taken it otherwise.
struct JobHooks {
    typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void
    typealias MainExecutorHook =
        @convention(thin) (@convention(thin) () -> UnownedSerialExecutor) ->
        UnownedSerialExecutor

    private let global: UnsafeMutablePointer<Hook?>
    private let main: UnsafeMutablePointer<Hook?>
    /// Older runtimes have none, and need none.
    private let mainExecutor: UnsafeMutablePointer<MainExecutorHook?>?

    /// `nil` where they cannot be found.
    // Pointers to variables that live as long as the process; what they point at is only changed in `capture(into:)`,
    // which never runs twice at the same time.
    nonisolated(unsafe) static let shared = JobHooks()

    private init?() {
        func variable<Kind>(_ name: String, of kind: Kind.Type) -> UnsafeMutablePointer<Kind?>? {
            dlsym(dlopen(nil, RTLD_NOW), name)?.assumingMemoryBound(to: Kind?.self)
        }
        guard let global = variable("swift_task_enqueueGlobal_hook", of: Hook.self),
            let main = variable("swift_task_enqueueMainExecutor_hook", of: Hook.self)
        else { return nil }
        (self.global, self.main) = (global, main)
        mainExecutor = variable("swift_task_getMainExecutor_hook", of: MainExecutorHook.self)
    }

    /// The executor of jobs that belong to no actor. The runtime writes it as two empty words, which the standard library
    /// has no name for; under any other, each `await` in a function without isolation would be one more job.
    static let noExecutor = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)

    /// Takes the process's jobs while `body` runs.
    func capture<Result>(into queue: JobQueue, _ body: () -> Result) -> Result {
        let isFirst = Self.foreign.withLock { foreign in
            defer { foreign.isCapturing = true }
            return !foreign.isCapturing
        }
        precondition(isFirst, "a SeededScheduler is running in this process already")
        pthread_setspecific(Self.key, Unmanaged.passUnretained(queue).toOpaque())
        global.pointee = { job, original in JobHooks.take(job, isMain: false, original) }
        main.pointee = { job, original in JobHooks.take(job, isMain: true, original) }
        mainExecutor?.pointee = { _ in SeededMainExecutor.shared.asUnownedSerialExecutor() }
        defer {
            global.pointee = nil
            main.pointee = nil
            mainExecutor?.pointee = nil
            pthread_setspecific(Self.key, nil)
            let left = Self.foreign.withLock { foreign in
                foreign.isCapturing = false
                defer { foreign.jobs = [] }
                return foreign.jobs
            }
            for foreign in left { foreign.original(foreign.job) }
        }
        return body()
    }

    /// The queue of the run that this thread is in the middle of.
    static var queueOfThisThread: JobQueue? {
        pthread_getspecific(key).map { Unmanaged<JobQueue>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension JobHooks {
    struct ForeignJob {
        let job: UnownedJob
        let isMain: Bool
        let original: Enqueue
    }

    private struct Foreign {
        var isCapturing = false
        var jobs: [ForeignJob] = []
    }

    /// What other threads bring while a run is on.
    private static let foreign = Guarded(Foreign())

    /// Tells the thread that runs from all others without a lock.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static func take(_ job: UnownedJob, isMain: Bool, _ original: Enqueue) {
        if let queue = queueOfThisThread { return queue.append(job, isMain: isMain) }
        let foreignJob = ForeignJob(job: job, isMain: isMain, original: original)
        let isTaken = foreign.withLock { foreign in
            if foreign.isCapturing { foreign.jobs.append(foreignJob) }
            return foreign.isCapturing
        }
        if !isTaken { original(job) }
    }

    static func takeForeignJobs() -> [ForeignJob] {
        foreign.withLock { foreign in
            defer { foreign.jobs = [] }
            return foreign.jobs
        }
    }
}
