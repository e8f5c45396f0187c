internal import Dispatch
internal import Foundation
internal import NIOConcurrencyHelpers

/// Measures how long the disk takes to keep a small file, four times a second. If other programs keep the disk busy, a
/// store waits for it as long, and no timer is late.
final class DiskMeter: Sendable {
    private let path: String
    private let disk = DispatchQueue(label: "martlet.torture.disk")
    private let state = NIOLockedValueBox((worst: Duration.zero, write: ContinuousClock.Instant?.none))

    /// - Parameter folder: The folder for the file, on the disk to measure.
    init(in folder: String) {
        path = folder + "/disk"
    }

    /// Measures until the task is cancelled, and waits for the last write.
    func run() async {
        while (try? await Task.sleep(for: .milliseconds(250))) != nil {
            state.withLockedValue { $0.write = .now }
            await withCheckedContinuation { done in
                disk.async {
                    self.keepFile()
                    done.resume()
                }
            }
            state.withLockedValue { state in
                state = (max(state.worst, state.write?.duration(to: .now) ?? .zero), nil)
            }
        }
    }

    /// Returns the time of the slowest write since the last call, including one that has not ended. Only the part of it
    /// after that call counts.
    func take() -> Duration {
        state.withLockedValue { state in
            let now = ContinuousClock.now
            defer { state = (.zero, state.write.map { _ in now }) }
            return max(state.worst, state.write?.duration(to: now) ?? .zero)
        }
    }

    private func keepFile() {
        guard FileManager.default.createFile(atPath: path, contents: Data("kept".utf8)),
            let file = FileHandle(forWritingAtPath: path)
        else { return }
        try? file.synchronize()
        try? file.close()
    }
}
