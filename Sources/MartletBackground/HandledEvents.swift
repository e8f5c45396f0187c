internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells the app that all events for which the system has launched or woken it are handled.
final class HandledEvents: Sendable {
    private struct State {
        /// Whether they are handled, and no task has waited for that.
        var isReported = false
        var waiting: [UUID: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Waits for the report, or until the task is cancelled.
    func wait() async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    guard !state.isReported, !Task.isCancelled else {
                        // The next events have a completion handler of their own.
                        state.isReported = false
                        return true
                    }
                    state.waiting[id] = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// All events are handled, and their follow-up work has started.
    func report() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            state.isReported = state.waiting.isEmpty
            return Array(state.waiting.values)
        }
        for each in waiting { each.resume() }
    }
}
