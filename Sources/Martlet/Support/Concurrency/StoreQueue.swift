/// Runs the operations on a store one at a time, in the order in which they were enqueued.
///
/// The order matters: a write that was enqueued before a sign-out must run before the deletion, never after it.
final class StoreQueue: Sendable {
    typealias Operation = @Sendable () async -> Void

    /// The operations that have not started, and whether a task is running operations.
    private struct State {
        var waiting: [Operation] = []
        var isRunning = false
    }

    private let state = Locked(State())

    /// Adds an operation. It never blocks, so it may be called with a lock held.
    func enqueue(_ operation: @escaping Operation) {
        _ = add(operation)
    }

    /// Adds an operation and reports if it does not start in time because an earlier one blocks the queue.
    /// - Parameters:
    ///   - limit: How long the operation may wait for its start. The time it takes after that is not limited.
    ///   - limits: The clock of the limit.
    ///   - operation: Runs in any case; its argument says whether the delay has been reported.
    ///   - onDelay: Called at most once, when the limit is reached before the operation starts.
    /// - Returns: A closure that starts the clock. Unlike this method it must be called without a lock held, because
    ///   the clock may be the app's own code.
    func enqueue(
        within limit: Duration, by limits: TimeLimits, _ operation: @escaping @Sendable (_ isLate: Bool) async -> Void,
        onDelay: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let first = StartOrTimeout()
        let mustWait = add { await operation(!first.claimDecision()) }
        guard mustWait else { return {} }
        return {
            first.onDecision(
                limits.schedule(after: limit) {
                    if first.claimDecision() { onDelay() }
                })
        }
    }

    /// Returns when all operations that were enqueued before have finished.
    func flush() async {
        await withCheckedContinuation { continuation in
            enqueue { continuation.resume() }
        }
    }

    /// - Returns: Whether the operation must wait for earlier ones.
    private func add(_ operation: @escaping Operation) -> Bool {
        let mustWait = state.withLock { state in
            state.waiting.append(operation)
            defer { state.isRunning = true }
            return state.isRunning
        }
        if !mustWait {
            Task { await self.drain() }
        }
        return mustWait
    }

    private func drain() async {
        while true {
            let batch = state.withLock { state -> [Operation] in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isRunning = false }
                return state.waiting
            }
            if batch.isEmpty { return }
            for operation in batch { await operation() }
        }
    }
}

/// Decides which comes first: the start of an operation or the end of its time limit.
private final class StartOrTimeout: Sendable {
    private struct State {
        var isDecided = false
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// - Returns: Whether this call is the first one and so decides.
    func claimDecision() -> Bool {
        let (isFirst, cancelTimer) = state.withLock { state in
            defer { state = State(isDecided: true) }
            return (!state.isDecided, state.cancelTimer)
        }
        cancelTimer?()
        return isFirst
    }

    /// Cancels the timer when it is decided, at once if it already is.
    func onDecision(_ cancelTimer: @escaping @Sendable () -> Void) {
        let isDecided = state.withLock { state in
            if !state.isDecided { state.cancelTimer = cancelTimer }
            return state.isDecided
        }
        if isDecided { cancelTimer() }
    }
}
