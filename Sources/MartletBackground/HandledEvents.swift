internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells the app that all events for which the system has launched or woken it are handled.
final class HandledEvents: Sendable {
    private struct State {
        /// Whether all events are handled, and no task has waited for that.
        var isReported = false
        /// The number of tasks that have given up waiting. The report that they waited for may still come.
        var givenUp = 0
        var waiting: [UUID: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

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
            let waiting = state.withLock { state in
                let waiting = state.waiting.removeValue(forKey: id)
                if waiting != nil { state.givenUp += 1 }
                return waiting
            }
            waiting?.resume()
        }
    }

    /// Reports that all events are handled and their follow-up work has started.
    func report() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            if state.waiting.isEmpty, state.givenUp > 0 {
                // The waiting task has given up. A late report must not count for the events of the next launch.
                state.givenUp -= 1
            } else {
                state.isReported = state.waiting.isEmpty
            }
            return Array(state.waiting.values)
        }
        for each in waiting { each.resume() }
    }
}
