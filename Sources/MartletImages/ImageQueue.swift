internal import Dispatch
internal import Martlet

/// Runs what takes long and much memory on threads of its own, a few at a time, without a thread that waits for its turn.
final class ImageQueue: Sendable {
    static let shared = ImageQueue(width: 2)

    private struct State {
        /// The queues on which nothing runs.
        var idle: [DispatchQueue]
        var waiting: [Job] = []
    }

    /// What is to be done once, whether its turn comes or nobody wants it any more.
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

    /// - Parameter width: How many may run at the same time.
    init(width: Int) {
        // Serial ones: on Linux, concurrent queues run on the threads that tasks of the same priority run on, one for each
        // processor, and tasks would wait.
        let queues = (0..<width).map { DispatchQueue(label: "martlet.images.\($0)", qos: .userInitiated) }
        state = Locked(State(idle: queues))
    }

    /// Runs the closure and waits for it without blocking a thread.
    /// - Throws: What the closure throws; ``ImageError/cancelled`` at once where its turn has not come.
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

    /// Ends a job whose turn has not come; it notices by itself that it is cancelled.
    private func leave(_ waiting: Locked<Job?>) {
        guard let job = waiting.withLock({ $0 }) else { return }
        let wasWaiting = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0 === job }) else { return false }
            state.waiting.remove(at: place)
            return true
        }
        if wasWaiting { job.run() }
    }

    /// - Returns: Whether the job has to wait for its turn.
    private func enqueue(_ job: Job) -> Bool {
        let queue = state.withLock { state -> DispatchQueue? in
            if state.idle.isEmpty { state.waiting.append(job) }
            return state.idle.popLast()
        }
        guard let queue else { return true }
        start(job, on: queue)
        return false
    }

    private func start(_ job: Job, on queue: DispatchQueue) {
        queue.async { [self] in
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
