/// Runs operations one at a time, in the order in which they were added.
package final class SerialQueue: Sendable {
    private let last = Locked<Operation?>(nil)

    package init() {}

    private struct Operation {
        let task: Task<Void, Never>
        var priority: TaskPriority
    }

    /// Adds an operation. It never blocks, so it may be called with a lock held.
    /// - Parameter operation: Starts immediately, and receives a function that suspends it until its turn comes. Its
    ///   work before that overlaps with other operations. It may finish before its turn.
    package func add(_ operation: @escaping @Sendable (_ turn: @Sendable () async -> Void) async -> Void) {
        last.withLock { last in
            // Detached, because the operation serves more callers than the one that adds it.
            let task = Task.detached(priority: Task.currentPriority) { [previous = last?.task] in
                await operation { await previous?.value }
                await previous?.value
            }
            last = Operation(task: task, priority: Task.currentPriority)
        }
    }

    /// Returns when all operations that were added before have finished.
    package func flush() async {
        await last.withLock { $0 }?.task.value
    }

    /// Raises the priority of all operations that were added before.
    package func escalate(to priority: TaskPriority) {
        let task = last.withLock { last -> Task<Void, Never>? in
            guard let operation = last, operation.priority < priority else { return nil }
            last?.priority = priority
            return operation.task
        }
        guard let task else { return }
        // Waiting for a task raises its priority.
        Task.detached(priority: priority) { await task.value }
    }
}
