import NIOConcurrencyHelpers

/// Where tasks wait until somebody lets them go on; a cancelled task leaves by itself.
final class ParkingLot: Sendable {
    private struct State {
        var isClosed = false
        var nextSpace = 0
        var parked: [(space: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        /// Spaces taken whose wait has not begun.
        var reserved: Set<Int> = []
    }

    private let state = NIOLockedValueBox(State())

    var count: Int { state.withLockedValue { $0.parked.count } }

    /// Takes a number for ``wait(in:)``, so that a signal can end the wait before it began.
    func takeSpace() -> Int {
        state.withLockedValue { state in
            state.nextSpace += 1
            state.reserved.insert(state.nextSpace)
            return state.nextSpace
        }
    }

    /// Waits until released; throws `CancellationError` when cancelled, removed or closed.
    func wait(in space: Int, onParked: @Sendable () -> Void = {}) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isAway = state.withLockedValue { state -> Bool in
                    if state.reserved.remove(space) == nil || state.isClosed || Task.isCancelled { return true }
                    state.parked.append((space, continuation))
                    return false
                }
                if isAway {
                    continuation.resume(throwing: CancellationError())
                } else {
                    onParked()
                }
            }
        } onCancel: {
            remove(space)
        }
    }

    /// Ends the wait in `space` with `CancellationError`.
    func remove(_ space: Int) {
        let continuation = state.withLockedValue { state -> CheckedContinuation<Void, any Error>? in
            guard let index = state.parked.firstIndex(where: { $0.space == space }) else {
                state.reserved.remove(space)
                return nil
            }
            return state.parked.remove(at: index).continuation
        }
        continuation?.resume(throwing: CancellationError())
    }

    /// Lets the first `limit` tasks go on, all by default.
    func release(_ limit: Int = .max) {
        let released = state.withLockedValue { state in
            let released = state.parked.prefix(limit)
            state.parked.removeFirst(released.count)
            return released
        }
        for entry in released { entry.continuation.resume() }
    }

    /// Ends every wait, now and later, with `CancellationError`.
    func close() {
        let parked = state.withLockedValue { state in
            defer { state.parked = [] }
            state.isClosed = true
            return state.parked
        }
        for entry in parked { entry.continuation.resume(throwing: CancellationError()) }
    }
}
