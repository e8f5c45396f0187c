internal import Dispatch

/// Asks the system to let this process go on for a while, as `ProcessInfo.performExpiringActivity` does.
///
/// The system calls the block that it was given with `false` on a thread of its own, and the activity lasts until that call
/// returns. It calls it with `true` when time is up, on another thread; where it grants nothing, that is the only call.
struct ExpiringActivities: Sendable {
    typealias Perform = @Sendable (_ reason: String, _ block: @escaping @Sendable (_ isExpired: Bool) -> Void) -> Void

    let perform: Perform

    /// Begins an activity.
    /// - Returns: `nil` where the system grants none.
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

/// A time in which the system does not suspend this process.
final class ExpiringActivity: Sendable {
    private enum Phase {
        case undecided((@Sendable (Bool) -> Void)?)
        case running(onExpiry: (@Sendable () -> Void)?)
        case over
    }

    private let phase = Locked(Phase.undecided(nil))
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Whether the system still lets this process go on.
    var isRunning: Bool {
        phase.withLock { if case .running = $0 { true } else { false } }
    }

    /// Calls the closure when the system's time is up, at once if it is already.
    func onExpiry(_ expire: @escaping @Sendable () -> Void) {
        let isRunning = phase.withLock { phase in
            guard case .running = phase else { return false }
            phase = .running(onExpiry: expire)
            return true
        }
        if !isRunning { expire() }
    }

    /// Lets the system suspend the process again.
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
        // What must not be held while suspended is let go before the system is told that it may suspend.
        expire?()
        hasEnded.signal()
    }
}
