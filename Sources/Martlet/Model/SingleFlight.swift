/// Lets work that many ask for be done once: whoever comes while it is under way gets what it comes to.
final class SingleFlight<Value: Sendable>: Sendable {
    private struct Flight {
        let number: Int
        let task: Task<Value, Never>
        var waiting = 1
    }

    private struct State {
        var flight: Flight?
        var lastNumber = 0
    }

    private let state = Locked(State())
    private let limits: TimeLimits
    private let outlivesCallers: Bool

    /// - Parameter outlivesCallers: Whether the work goes on when nobody waits for it any more.
    init(time: any TimeSource, outlivesCallers: Bool) {
        self.limits = TimeLimits(time: time)
        self.outlivesCallers = outlivesCallers
    }

    /// Starts the work or joins it.
    /// - Returns: `nil` where the caller was cancelled; the work goes on as long as somebody else waits for it, and after
    ///   that only if it outlives its callers.
    func run(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        let (number, task) = join(work)
        return await withTaskCancellationHandler {
            try? await limits.run(within: nil) { await task.value }.get()
        } onCancel: {
            // At once and not when this caller gets to run again: who asks right after the cancellation starts anew.
            if !outlivesCallers { leave(number) }
        }
    }

    private func join(_ work: @escaping @Sendable () async -> Value) -> (number: Int, task: Task<Value, Never>) {
        state.withLock { state in
            if let flight = state.flight {
                state.flight?.waiting += 1
                return (flight.number, flight.task)
            }
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task { [self] in
                defer { end(number) }
                return await work()
            }
            state.flight = Flight(number: number, task: task)
            return (number, task)
        }
    }

    /// Nobody wants what is left without anybody who waits: who asks from now on starts anew.
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
