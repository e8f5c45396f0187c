internal import Dispatch

/// Asks the system not to suspend this process for a while, as `ProcessInfo.performExpiringActivity` does.
///
/// The system calls the block with `false` on a thread of its own, and the activity lasts until that call returns. When
/// time is up, it calls the block with `true` on another thread. If it grants no activity, the call with `true` is the
/// only one.
package struct ExpiringActivities: Sendable {
    typealias Perform = @Sendable (_ reason: String, _ block: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void

    let perform: Perform

    /// Begins an activity. If the system grants none, the app is about to be suspended: retries until it has resumed.
    /// - Parameters:
    ///   - reason: The reason, for the system's log.
    ///   - expire: Called when the activity expires, on a thread of the system that may block. The system may suspend
    ///     the process when it returns.
    /// - Throws: `CancellationError` if the task is cancelled.
    func begin(
        _ reason: String, time: any TimeSource, onExpiry expire: @escaping @Sendable () -> Void
    ) async throws -> ExpiringActivity {
        while true {
            let activity = ExpiringActivity(onExpiry: expire)
            let isGranted = await withCheckedContinuation { continuation in
                begin(activity, reason) { continuation.resume(returning: $0) }
            }
            if isGranted { return activity }
            try await time.sleep(until: time.uptime + Self.pause)
        }
    }

    /// Begins an activity as ``begin(_:time:onExpiry:)`` does, but blocks until the system has decided.
    /// - Returns: `nil` if the system grants none. Wait for ``pause`` before the next attempt.
    func beginBlocking(_ reason: String, onExpiry expire: @escaping @Sendable () -> Void) -> ExpiringActivity? {
        let activity = ExpiringActivity(onExpiry: expire)
        let isGranted = Locked(false)
        let hasDecided = DispatchSemaphore(value: 0)
        begin(activity, reason) { granted in
            isGranted.withLock { $0 = granted }
            hasDecided.signal()
        }
        hasDecided.wait()
        return isGranted.withLock { $0 } ? activity : nil
    }

    /// The pause after a refusal. The process is about to be suspended, so the pause ends after it has resumed.
    package static let pause = Duration.seconds(1)

    private func begin(_ activity: ExpiringActivity, _ reason: String, _ decide: @escaping @Sendable (Bool) -> Void) {
        activity.whenDecided(decide)
        perform(reason) { isExpired in
            if isExpired { activity.expire() } else { activity.runUntilEnd() }
        }
    }
}

/// A period during which the system does not suspend this process.
package final class ExpiringActivity: Sendable {
    /// Whether the system has granted the activity, and whether it has ended.
    private enum Phase {
        /// The system has not decided yet. The closure receives its decision.
        case undecided((@Sendable (Bool) -> Void)?)
        case running
        /// The activity was refused, has ended or has expired.
        case over
    }

    private let phase = Locked(Phase.undecided(nil))
    private let onExpiry: @Sendable () -> Void
    private let hasEnded = DispatchSemaphore(value: 0)

    fileprivate init(onExpiry: @escaping @Sendable () -> Void) {
        self.onExpiry = onExpiry
    }

    var isRunning: Bool {
        phase.withLock { if case .running = $0 { true } else { false } }
    }

    /// Allows the system to suspend the process again.
    func end() {
        let wasRunning = phase.withLock { phase in
            guard case .running = phase else { return false }
            phase = .over
            return true
        }
        if wasRunning { hasEnded.signal() }
    }

    fileprivate func whenDecided(_ decide: @escaping @Sendable (Bool) -> Void) {
        phase.withLock { $0 = .undecided(decide) }
    }

    fileprivate func runUntilEnd() {
        let decide = phase.withLock { phase -> (@Sendable (Bool) -> Void)? in
            guard case .undecided(let decide) = phase else { return nil }
            phase = .running
            return decide
        }
        guard let decide else { return }
        decide(true)
        hasEnded.wait()
    }

    fileprivate func expire() {
        let (decide, wasRunning) = phase.withLock { phase -> ((@Sendable (Bool) -> Void)?, Bool) in
            defer { phase = .over }
            return switch phase {
            case .undecided(let decide): (decide, false)
            case .running: (nil, true)
            case .over: (nil, false)
            }
        }
        decide?(false)
        // Release the lock before the system may suspend the process.
        if wasRunning { onExpiry() }
        hasEnded.signal()
    }
}
