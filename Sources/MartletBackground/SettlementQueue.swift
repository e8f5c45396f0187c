internal import Martlet

/// Runs settlements one after another. A settlement takes the next step of every transfer; see ``TransferSettler``.
///
/// A settlement that is requested while one runs begins after it, because the running one may have passed the transfer
/// that has changed. It serves all requests that arrive before it begins.
final class SettlementQueue: Sendable {
    private struct State {
        /// The current settlement, or the last one.
        var current: Task<Void, Never>?
        /// The settlement that begins after it.
        var next: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// Waits for a settlement that starts after this call, and returns when it has finished.
    func run(_ settle: @escaping @Sendable () async -> Void) async {
        let settlement = state.withLock { state in
            if let next = state.next { return next }
            let next = Task { [previous = state.current] in
                await previous?.value
                self.state.withLock { state in
                    state.current = state.next
                    state.next = nil
                }
                await settle()
            }
            state.next = next
            return next
        }
        await settlement.value
    }

    /// Makes the next settlement wait for a task.
    func hold(until task: Task<Void, Never>) {
        state.withLock { $0.current = task }
    }
}
