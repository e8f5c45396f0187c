package import Dispatch

/// Runs work that may block, one call after another, on a thread that runs no tasks.
///
/// Everything that waits for a disk, another process or a terminal runs here, so that tasks continue if it hangs. The
/// queue is serial, because on Linux the cooperative pool uses the threads of Dispatch's concurrent queues.
package struct BlockingQueue: Sendable {
    /// 1 while a thread runs the work of a queue.
    private static let isAtWork = ThreadNumber()
    /// 1 on the thread of a test scheduler that runs all tasks of the process. Work that is started on that thread runs
    /// as a task, too.
    package static let runsInTasks = ThreadNumber()

    /// Serial.
    package let queue: DispatchQueue
    private let pendingWork = PendingWork()

    package init(_ label: String, qos: DispatchQoS = .unspecified) {
        queue = DispatchQueue(label: label, qos: qos)
    }

    /// Starts the closure, and returns immediately.
    package func start(_ work: @escaping @Sendable () -> Void) {
        if Self.runsInTasks.value == 1 { return startTask(work) }
        queue.async { Self.perform(work) }
    }

    private static func perform(_ work: () -> Void) {
        isAtWork.value = 1
        work()
        isAtWork.value = 0
    }

    /// Runs the closure. The caller suspends and blocks no thread.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // Synchronize through a lock, for ThreadSanitizer: it does not see that a continuation orders memory if it is
        // resumed before the task suspends, and reports a race on memory that the work allocated.
        let isDone = Locked(false)
        // A Result, because continuations erase typed throws.
        let result = await withCheckedContinuation { continuation in
            start {
                let result = Result { () throws(Failure) -> Value in try work() }
                isDone.withLock { $0 = true }
                continuation.resume(returning: result)
            }
        }
        isDone.withLock { _ in }
        return try result.get()
    }

    /// Runs the closure, and blocks the calling thread until it is done. Only for threads of the system, never in a
    /// task.
    package func wait(_ work: () -> Void) {
        BlockingCalls.check("wait")
        queue.sync(execute: work)
    }

    /// Runs work on a separate queue, concurrently with all other work.
    package static func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await BlockingQueue("martlet.blocking").run(work)
    }

    /// The work that waits for the queue if queues run their work as tasks (``runsInTasks``).
    private final class PendingWork: Sendable {
        let closures = Locked<[@Sendable () -> Void]>([])
    }

    /// Adds the closure to the work of the queue's task, and starts that task if it has no work.
    private func startTask(_ work: @escaping @Sendable () -> Void) {
        let isFirst = pendingWork.closures.withLock { waiting in
            waiting.append(work)
            return waiting.count == 1
        }
        guard isFirst else { return }
        Task.detached { [pendingWork] in
            while let next = pendingWork.closures.withLock({ $0.first }) {
                Self.perform(next)
                pendingWork.closures.withLock { _ = $0.removeFirst() }
            }
        }
    }

    /// Runs the closure immediately if the calling thread may block; otherwise starts it and returns. For `deinit`.
    package static func startUnlessHere(_ work: @escaping @Sendable () -> Void) {
        guard isAtWork.value == 0 else { return work() }
        BlockingQueue("martlet.blocking").start(work)
    }
}
