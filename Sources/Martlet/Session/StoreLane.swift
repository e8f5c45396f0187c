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

    /// Adds an operation, and tells if its turn does not come in time, because one before it does not end.
    /// - Parameters:
    ///   - limit: How long it waits for its turn. What it then takes is its own affair.
    ///   - limits: The clock for that.
    ///   - operation: Is told whether its turn has come too late.
    ///   - tellDelay: Called, at most once and before the operation, when the time is over.
    func enqueue(
        within limit: Duration, by limits: TimeLimits, _ operation: @escaping @Sendable (_ isLate: Bool) async -> Void,
        orElse tellDelay: @escaping @Sendable () -> Void
    ) {
        guard state.withLock({ $0.isRunning }) else { return enqueue { await operation(false) } }
        let isDecided = Locked(false)
        let decide: @Sendable () -> Bool = {
            isDecided.withLock { isDecided in
                defer { isDecided = true }
                return !isDecided
            }
        }
        let callOff = limits.schedule(after: limit) { if decide() { tellDelay() } }
        enqueue {
            callOff()
            await operation(!decide())
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
