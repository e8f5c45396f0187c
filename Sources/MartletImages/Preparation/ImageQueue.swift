internal import Dispatch
internal import Martlet

/// Runs long, memory-intensive work on its own threads, a few jobs at a time. Waiting jobs block no thread.
final class ImageQueue: Sendable {
    static let shared = ImageQueue(width: 2)

    /// The free queues, and the jobs that wait for one.
    private struct State {
        /// The queues that run no job.
        var idle: [BlockingQueue]
        var waiting: [Job] = []
    }

    /// Work that runs exactly once: on a queue, or when it is cancelled while it waits.
    private final class Job: Sendable {
        private let work: Locked<(@Sendable () -> Void)?>

        init(_ work: @escaping @Sendable () -> Void) { self.work = Locked(work) }

        func run() {
            let work = work.withLock { work in
                defer { work = nil }
                return work
            }
            work?()
        }
    }

    private let state: Locked<State>

    /// - Parameter width: The maximum number of concurrent jobs.
    init(width: Int) {
        let queues = (0..<width).map { BlockingQueue("martlet.images.\($0)", qos: .userInitiated) }
        state = Locked(State(idle: queues))
    }

    /// Runs the closure and waits for it without blocking a thread.
    /// - Throws: The closure's error. If the task is cancelled before the closure starts, ``ImageError/cancelled``
    ///   immediately.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Cancellation) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let cancellation = Cancellation()
        let waiting = Locked<Job?>(nil)
        // Continuations and cancellation handlers erase typed throws.
        let result: Result<Value, ImageError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = Job {
                    continuation.resume(
                        returning: Result { () throws(ImageError) -> Value in
                            try cancellation.check()
                            return try body(cancellation)
                        })
                }
                if enqueue(job) { waiting.withLock { $0 = job } }
                if cancellation.isCancelled { leave(waiting) }
            }
        } onCancel: {
            cancellation.cancel()
            leave(waiting)
        }
        return try result.get()
    }

    /// Runs a waiting job immediately. The job throws, because it checks for cancellation first.
    private func leave(_ waiting: Locked<Job?>) {
        guard let job = waiting.withLock({ $0 }) else { return }
        let wasWaiting = state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0 === job }) else { return false }
            state.waiting.remove(at: index)
            return true
        }
        if wasWaiting { job.run() }
    }

    /// - Returns: Whether the job must wait for a free queue.
    private func enqueue(_ job: Job) -> Bool {
        let queue = state.withLock { state -> BlockingQueue? in
            if state.idle.isEmpty { state.waiting.append(job) }
            return state.idle.popLast()
        }
        guard let queue else { return true }
        start(job, on: queue)
        return false
    }

    private func start(_ job: Job, on queue: BlockingQueue) {
        queue.start { [self] in
            job.run()
            let next = state.withLock { state -> Job? in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.idle.append(queue)
                return nil
            }
            if let next { start(next, on: queue) }
        }
    }
}
