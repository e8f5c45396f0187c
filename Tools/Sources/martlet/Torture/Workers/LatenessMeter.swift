internal import Dispatch
internal import Foundation
internal import NIOConcurrencyHelpers

/// Measures how late this process gets to run: the largest delay of a timer that is due every 50 ms. It can also measure
/// how long the disk takes to keep a small file.
final class LatenessMeter: Sendable {
    private struct State {
        var worst = Duration.zero
        var last = ContinuousClock.now
        /// The start of the write in progress.
        var write: ContinuousClock.Instant?
    }

    private let state = NIOLockedValueBox(State())
    private static let interval = Duration.milliseconds(50)
    private static let disk = DispatchQueue(label: "martlet.torture.disk")

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

    /// Measures until the task is cancelled how long a small file takes to reach the disk, four times a second. If other
    /// programs keep the disk busy, a store waits for it as long, and the timers notice nothing.
    func measureWrites(in folder: String) async {
        let path = folder + "/lateness"
        while (try? await Task.sleep(for: .milliseconds(250))) != nil {
            state.withLockedValue { $0.write = .now }
            await withCheckedContinuation { done in
                Self.disk.async {
                    Self.write(path)
                    done.resume()
                }
            }
            state.withLockedValue { state in
                state.worst = max(state.worst, state.write.map { $0.duration(to: .now) } ?? .zero)
                state.write = nil
            }
        }
    }

    private static func write(_ path: String) {
        guard FileManager.default.createFile(atPath: path, contents: Data("late".utf8)),
            let file = FileHandle(forWritingAtPath: path)
        else { return }
        try? file.synchronize()
        try? file.close()
    }

    /// Returns the largest lateness since the last call, including that of a tick that is overdue now and that of a
    /// write in progress.
    func take() -> Duration {
        state.withLockedValue { state in
            let now = ContinuousClock.now
            defer { (state.worst, state.last) = (.zero, now) }
            let writing = state.write.map { $0.duration(to: now) } ?? .zero
            return max(state.worst, state.last.duration(to: now) - Self.interval, writing, .zero)
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
