internal import Martlet
internal import MartletLibc

/// The hooks of the concurrency runtime that intercept its jobs.
///
/// The runtime declares them as variables for optional functions (see `Concurrency.h` in swiftlang/swift). A hook
/// receives the job and the function that would otherwise have enqueued it.
struct JobHooks {
    typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void
    typealias MainExecutorHook =
        @convention(thin) (@convention(thin) () -> UnownedSerialExecutor) ->
        UnownedSerialExecutor

    private let global: UnsafeMutablePointer<Hook?>
    private let main: UnsafeMutablePointer<Hook?>
    /// `nil` on older runtimes, which do not need it.
    private let mainExecutor: UnsafeMutablePointer<MainExecutorHook?>?

    /// `nil` if the runtime does not export the hooks.
    // `nonisolated(unsafe)` is safe because the pointers refer to global variables, and only `capture(into:)` changes
    // them, which never runs concurrently with itself.
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

    /// The generic executor, for jobs without an actor. The runtime represents it as two zero words, and the standard
    /// library has no name for it. With any other executor, each `await` in a nonisolated function would enqueue
    /// another job.
    static let noExecutor = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)

    /// Sends all jobs of the process to the queue while `body` runs.
    func capture<Result>(into queue: JobQueue, _ body: () -> Result) -> Result {
        let isFirst = Self.foreign.withLock { foreign in
            defer { foreign.isCapturing = true }
            return !foreign.isCapturing
        }
        precondition(isFirst, "a SeededScheduler is already running in this process; run one at a time")
        pthread_setspecific(Self.key, Unmanaged.passUnretained(queue).toOpaque())
        BlockingQueue.runsInTasks.value = 1
        global.pointee = { job, original in JobHooks.take(job, isMain: false, original) }
        main.pointee = { job, original in JobHooks.take(job, isMain: true, original) }
        mainExecutor?.pointee = { _ in SeededMainExecutor.shared.asUnownedSerialExecutor() }
        defer {
            global.pointee = nil
            main.pointee = nil
            mainExecutor?.pointee = nil
            pthread_setspecific(Self.key, nil)
            BlockingQueue.runsInTasks.value = 0
            let left = Self.foreign.withLock { foreign in
                foreign.isCapturing = false
                defer { foreign.jobs = [] }
                return foreign.jobs
            }
            for foreign in left { foreign.original(foreign.job) }
        }
        return body()
    }

    /// The queue of the run that this thread executes; `nil` if there is none.
    static var queueOfThisThread: JobQueue? {
        pthread_getspecific(key).map { Unmanaged<JobQueue>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension JobHooks {
    /// A job that another thread enqueued during a run, and the function that would otherwise have enqueued it.
    struct ForeignJob {
        let job: UnownedJob
        let isMain: Bool
        let original: Enqueue
    }

    /// Whether a run is in progress, and the jobs from other threads that it has not taken yet.
    private struct Foreign {
        var isCapturing = false
        var jobs: [ForeignJob] = []
    }

    /// Jobs that other threads enqueue during a run.
    private static let foreign = Locked(Foreign())

    /// Identifies the thread of the run without a lock.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Puts a job on the queue of this thread's run, or keeps it for the run of another thread. Without a run it is
    /// enqueued as usual.
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

    /// Blocks this thread for a millisecond, so that other threads can enqueue jobs.
    static func sleepThread() {
        usleep(1000)
    }
}
