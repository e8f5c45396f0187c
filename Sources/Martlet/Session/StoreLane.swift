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
        _ = add(operation)
    }

    /// Adds an operation, and tells if its turn does not come in time, because one before it does not end.
    /// - Parameters:
    ///   - limit: How long it waits for its turn. What it then takes is its own affair.
    ///   - limits: The clock for that.
    ///   - operation: Is told whether its turn has come too late.
    ///   - tellDelay: Called, at most once, when the time is over; the operation may begin meanwhile.
    /// - Returns: What starts the time. Adding may be done with a lock held, but that not: the clock may be the app's own.
    func enqueue(
        within limit: Duration, by limits: TimeLimits, _ operation: @escaping @Sendable (_ isLate: Bool) async -> Void,
        orElse tellDelay: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let turn = Turn()
        let mustWait = add { await operation(!turn.decide()) }
        guard mustWait else { return {} }
        return {
            turn.onDecision(
                limits.schedule(after: limit) {
                    if turn.decide() { tellDelay() }
                })
        }
    }

    /// Returns once everything asked for before is done.
    func flush() async {
        await withCheckedContinuation { continuation in
            enqueue { continuation.resume() }
        }
    }

    /// - Returns: Whether there are others before it.
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

/// Whether the turn of an operation comes before its time is over.
private final class Turn: Sendable {
    private struct State {
        var isDecided = false
        var callOff: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// - Returns: Whether nobody has decided before.
    func decide() -> Bool {
        let (isFirst, callOff) = state.withLock { state in
            defer { state = State(isDecided: true) }
            return (!state.isDecided, state.callOff)
        }
        callOff?()
        return isFirst
    }

    /// Has something done once it is decided, at once if it is.
    func onDecision(_ callOff: @escaping @Sendable () -> Void) {
        let isDecided = state.withLock { state in
            if !state.isDecided { state.callOff = callOff }
            return state.isDecided
        }
        if isDecided { callOff() }
    }
}
