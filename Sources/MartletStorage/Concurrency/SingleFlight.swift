/// Runs work once for all concurrent callers: callers that arrive while it runs share its result. The work does not see
/// the task-local values of the caller that happens to start it.
package final class SingleFlight<Value: Sendable>: Sendable {
    /// The work that is running, and its callers.
    private struct Flight {
        let number: Int
        let task: Task<Value, Never>
        /// The number of callers that wait for the result.
        var waiting = 1
    }

    private struct State {
        var flight: Flight?
        var lastNumber = 0
    }

    private let state = Locked(State())
    private let limits: TimeLimits
    private let outlivesCallers: Bool
    private let lastCallerAwaitsResult: Bool

    /// The number of callers that wait for the work under way.
    package var waiting: Int { state.withLock { $0.flight?.waiting ?? 0 } }

    /// - Parameters:
    ///   - outlivesCallers: Whether the work continues after all its callers have been cancelled.
    ///   - lastCallerAwaitsResult: Whether a caller whose cancellation cancels the work still waits for its result,
    ///     because the work may have taken effect.
    package init(time: any TimeSource, outlivesCallers: Bool, lastCallerAwaitsResult: Bool = false) {
        self.limits = TimeLimits(time: time)
        self.outlivesCallers = outlivesCallers
        self.lastCallerAwaitsResult = lastCallerAwaitsResult
    }

    /// Starts the work, or waits for the work that is already running.
    /// - Parameter joined: Called if the work is already running.
    /// - Returns: `nil` if the caller was cancelled, unless it is told the result. The work is cancelled with its last
    ///   caller, unless it outlives its callers.
    package func run(joined: () -> Void = {}, _ work: @escaping @Sendable () async -> Value) async -> Value? {
        let (number, task, isNew) = join(work)
        if !isNew { joined() }
        let result = await withTaskCancellationHandler {
            try? await limits.run(within: nil) { await task.value }.get()
        } onCancel: {
            // Leave now, not when this task resumes: a caller that arrives in between must start new work.
            if !outlivesCallers { leave(number) }
        }
        guard case .none = result, lastCallerAwaitsResult, task.isCancelled else { return result }
        return await task.value
    }

    private func join(
        _ work: @escaping @Sendable () async -> Value
    ) -> (number: Int, task: Task<Value, Never>, isNew: Bool) {
        state.withLock { state in
            if let flight = state.flight {
                state.flight?.waiting += 1
                return (flight.number, flight.task, false)
            }
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task.detached(priority: Task.currentPriority) { [self] in
                defer { end(number) }
                return await work()
            }
            state.flight = Flight(number: number, task: task)
            return (number, task, true)
        }
    }

    /// Removes one caller. Without callers the work is cancelled, and the next caller starts it again.
    private func leave(_ number: Int) {
        let abandoned = state.withLock { state -> Task<Value, Never>? in
            guard state.flight?.number == number else { return nil }
            state.flight?.waiting -= 1
            guard let flight = state.flight, flight.waiting == 0 else { return nil }
            state.flight = nil
            return flight.task
        }
        abandoned?.cancel()
    }

    private func end(_ number: Int) {
        state.withLock { state in
            if state.flight?.number == number { state.flight = nil }
        }
    }
}
