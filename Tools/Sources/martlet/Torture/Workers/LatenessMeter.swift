internal import Foundation
internal import NIOConcurrencyHelpers

/// Measures how late this process gets to run: the largest delay of a timer that is due every 50 ms.
final class LatenessMeter: Sendable {
    private let state = NIOLockedValueBox((worst: Duration.zero, last: ContinuousClock.now))
    private static let interval = Duration.milliseconds(50)

    /// Measures until the task is cancelled. A busy thread pool counts as lateness, too.
    func run() async {
        restart()
        while (try? await Task.sleep(for: Self.interval)) != nil { tick() }
    }

    /// Measures on a thread of its own until the process exits, so that a library that blocks the thread pool does not
    /// look like a busy machine.
    func runOnThread() {
        restart()
        Thread.detachNewThread {
            while true {
                usleep(50_000)
                self.tick()
            }
        }
    }

    /// Returns the largest lateness since the last call, including that of a tick that is overdue now.
    func take() -> Duration {
        state.withLockedValue { state in
            defer { state = (.zero, .now) }
            return max(state.worst, state.last.duration(to: .now) - Self.interval, .zero)
        }
    }

    private func restart() {
        state.withLockedValue { $0.last = .now }
    }

    private func tick() {
        state.withLockedValue { state in
            let now = ContinuousClock.now
            state.worst = max(state.worst, state.last.duration(to: now) - Self.interval)
            state.last = now
        }
    }
}
