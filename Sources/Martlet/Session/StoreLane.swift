/// Runs the operations on a store one at a time, in the order in which they were asked for.
///
/// The order decides what survives: a record that was on its way when the user signed out must be written before it is
/// deleted, never after.
final class StoreLane: Sendable {
    typealias Operation = @Sendable () async -> Void

    private struct State {
        var waiting: [Operation] = []
        var isRunning = false
    }

    private let state = Locked(State())

    /// Adds an operation. It never waits, so it may be called with a lock held.
    func enqueue(_ operation: @escaping Operation) {
        let mustStart = state.withLock { state in
            state.waiting.append(operation)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart {
            Task { await self.drain() }
        }
    }

    /// Returns once everything asked for before is done.
    func flush() async {
        await withCheckedContinuation { continuation in
            enqueue { continuation.resume() }
        }
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
