import NIOConcurrencyHelpers

/// Tasks that wait until another task releases them. A cancelled task stops waiting.
final class WaitingTasks: Sendable {
    /// The tasks that wait, and the tickets that have been made.
    private struct State {
        var isClosed = false
        var lastTicket = 0
        var waiting: [(ticket: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        /// Tickets whose wait has not started.
        var unused: Set<Int> = []
    }

    private let state = NIOLockedValueBox(State())

    var count: Int { state.withLockedValue { $0.waiting.count } }

    /// Makes a ticket for ``wait(with:onStart:)``. With it, the wait can be ended even before it starts.
    func makeTicket() -> Int {
        state.withLockedValue { state in
            state.lastTicket += 1
            state.unused.insert(state.lastTicket)
            return state.lastTicket
        }
    }

    /// Waits until released. Throws `CancellationError` if the task or the ticket is cancelled, or after ``close()``.
    /// - Parameter onStart: Called when the task waits, so that a release from then on reaches it.
    func wait(with ticket: Int, onStart: @Sendable () -> Void = {}) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLockedValue { state -> Bool in
                    if state.unused.remove(ticket) == nil || state.isClosed || Task.isCancelled { return true }
                    state.waiting.append((ticket, continuation))
                    return false
                }
                if isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    onStart()
                }
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    /// Ends the wait with this ticket by throwing `CancellationError` there.
    func cancel(_ ticket: Int) {
        let continuation = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                state.unused.remove(ticket)
                return nil
            }
            return state.waiting.remove(at: index).continuation
        }
        continuation?.resume(throwing: CancellationError())
    }

    /// Releases the first `limit` tasks, or all of them by default.
    func release(_ limit: Int = .max) {
        let released = state.withLockedValue { state in
            let released = state.waiting.prefix(limit)
            state.waiting.removeFirst(released.count)
            return released
        }
        for entry in released { entry.continuation.resume() }
    }

    /// Ends all current and future waits with `CancellationError`.
    func close() {
        let waiting = state.withLockedValue { state in
            defer { state.waiting = [] }
            state.isClosed = true
            return state.waiting
        }
        for entry in waiting { entry.continuation.resume(throwing: CancellationError()) }
    }
}
