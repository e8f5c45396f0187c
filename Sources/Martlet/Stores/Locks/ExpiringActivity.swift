internal import Dispatch

/// Asks the system not to suspend this process for a while, as `ProcessInfo.performExpiringActivity` does.
///
/// The system calls the block with `false` on its own thread, and the activity lasts until that call returns. When time
/// is up, it calls the block with `true` on another thread. If it grants no activity, that is the only call.
struct ExpiringActivities: Sendable {
    typealias Perform = @Sendable (_ reason: String, _ block: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void

    let perform: Perform

    /// Begins an activity.
    /// - Returns: `nil` if the system grants none.
    func begin(_ reason: String) async -> ExpiringActivity? {
        let activity = ExpiringActivity()
        let isGranted = await withCheckedContinuation { continuation in
            activity.whenDecided { continuation.resume(returning: $0) }
            perform(reason) { isExpired in
                if isExpired { activity.expire() } else { activity.runUntilEnd() }
            }
        }
        return isGranted ? activity : nil
    }
}

/// A period during which the system does not suspend this process.
final class ExpiringActivity: Sendable {
    /// Whether the system has granted the activity, and whether it has ended.
    private enum Phase {
        /// The system has not decided yet. The closure receives its decision.
        case undecided((@Sendable (Bool) -> Void)?)
        /// The activity lasts. The closure is called when it expires.
        case running(onExpiry: (@Sendable () -> Void)?)
        /// The activity was refused, has ended or has expired.
        case over
    }

    private let phase = Locked(Phase.undecided(nil))
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Whether the activity lasts.
    var isRunning: Bool {
        phase.withLock { if case .running = $0 { true } else { false } }
    }

    /// Calls the closure when the activity expires, on a thread of the system that may block.
    /// - Returns: `false` if the activity is over, and the closure is not called.
    func onExpiry(_ expire: @escaping @Sendable () -> Void) -> Bool {
        phase.withLock { phase in
            guard case .running = phase else { return false }
            phase = .running(onExpiry: expire)
            return true
        }
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
            phase = .running(onExpiry: nil)
            return decide
        }
        guard let decide else { return }
        decide(true)
        hasEnded.wait()
    }

    fileprivate func expire() {
        let (decide, expire) = phase.withLock { phase -> ((@Sendable (Bool) -> Void)?, (@Sendable () -> Void)?) in
            defer { phase = .over }
            return switch phase {
            case .undecided(let decide): (decide, nil)
            case .running(let onExpiry): (nil, onExpiry)
            case .over: (nil, nil)
            }
        }
        decide?(false)
        // Release the lock before the system may suspend the process.
        expire?()
        hasEnded.signal()
    }
}
