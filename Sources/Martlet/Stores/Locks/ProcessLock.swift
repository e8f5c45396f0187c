/// A lock between processes, over a file.
///
/// It is an advisory lock of the system (`flock`), so the system releases it when its holder dies. If the holder is
/// suspended, a process that has waited for the lease takes the lock away, and the old holder sees that in
/// ``HeldStoreLock/isHeld``. Time in which the device sleeps does not count toward the lease.
///
/// On iOS, tvOS, watchOS and visionOS the system ends a suspended app that holds a lock in a shared container. There
/// the lock is held within an expiring activity of the process: it is released when the activity expires, and not
/// acquired while the system grants no activity. An app and its extensions may share a lock in the container of their
/// app group.
///
/// ```swift
/// let lock = ProcessLock(path: "/var/lib/example/session.json.refresh.lock")
/// let held = try await lock.acquire(lease: .seconds(45))
/// defer { held.release() }
/// ```
public final class ProcessLock: StoreLock {
    private let lock: FileLock
    private let time: any TimeSource
    private let activities: ExpiringActivities?
    private let queue = BlockingQueue("martlet.process-lock")

    /// The pause of a waiter between two attempts grows from the shortest to the longest.
    private static let shortestPause = Duration.milliseconds(1)
    private static let longestPause = Duration.milliseconds(50)

    /// Creates a lock over a file.
    /// - Parameters:
    ///   - path: The file, on a local disk; the same in all processes. It is created when needed, as is its folder
    ///     (accessible to this user alone), and stays.
    ///   - time: The clock for waiting; the system's if `nil`.
    public convenience init(path: String, time: (any TimeSource)? = nil) {
        self.init(path: path, time: time ?? .system, activities: .platform)
    }

    init(
        path: String, time: any TimeSource, activities: ExpiringActivities?, steps: FileSteps = .unobserved
    ) {
        self.lock = FileLock(path: path, steps: steps)
        self.time = time
        self.activities = activities
    }

    /// Waits for the lock without blocking a thread.
    /// - Parameter lease: How long to wait for one holder before taking the lock away from it.
    /// - Throws: `CancellationError` if the task is cancelled; ``StorageError`` if the file cannot be created or
    ///   locked.
    public func acquire(lease: Duration) async throws -> any HeldStoreLock {
        try await acquireHeld(lease: lease)
    }

    func acquireHeld(lease: Duration) async throws -> HeldProcessLock {
        var activity: ExpiringActivity?
        do {
            var watched: FileLock.Holder?
            var remainingLease = lease
            var pause = Self.shortestPause
            var attemptedAt = time.uptime
            while true {
                try Task.checkCancellation()
                if let activities, activity?.isRunning != true {
                    activity = await activities.begin("A session is refreshed or stored")
                    guard activity != nil else {
                        // The app is about to be suspended. Try again when it resumes.
                        try await time.sleep(until: time.uptime + .seconds(1))
                        continue
                    }
                }
                let isStale = remainingLease <= .zero
                let holder: FileLock.Holder
                switch try await attempt(takingFrom: isStale ? watched : nil) {
                case .acquired(let claim): return HeldProcessLock(claim, activity, queue)
                case .busy(let current): holder = current
                }
                let now = time.uptime
                if holder == watched, !isStale {
                    // After a much longer pause the device was asleep or this process suspended; do not count that.
                    remainingLease -= min(now - attemptedAt, pause * 4)
                } else {
                    watched = holder
                    remainingLease = lease
                }
                attemptedAt = now
                try await time.sleep(until: now + pause * Double.random(in: 0.5...1))
                pause = min(pause * 1.5, Self.longestPause)
            }
        } catch {
            activity?.end()
            throw error
        }
    }

    private func attempt(takingFrom stale: FileLock.Holder?) async throws(StorageError) -> FileLock.Attempt {
        try await queue.run { [lock] () throws(StorageError) in
            try PrivateFile(path: lock.path).makeFolder()
            if let stale, let claim = try lock.takeAway(from: stale) { return .acquired(claim) }
            return try lock.attempt()
        }
    }
}

/// An acquired lock and the activity of the process that goes with it.
final class HeldProcessLock: HeldStoreLock {
    private struct State {
        /// `nil` when the file is unlocked.
        var claim: FileLock.Claim?
        var isReleased = false
    }

    private let state: Locked<State>
    private let activity: ExpiringActivity?
    /// The queue of the lock: the next attempt to acquire the lock runs after its release.
    private let queue: BlockingQueue

    init(_ claim: FileLock.Claim, _ activity: ExpiringActivity?, _ queue: BlockingQueue) {
        self.state = Locked(State(claim: claim))
        self.activity = activity
        self.queue = queue
        let isProtected = activity?.onExpiry { [state, queue] in
            // The system may suspend the process when this returns.
            queue.wait { Self.unlock(state) }
        }
        if isProtected == false { release() }
    }

    deinit {
        release()
    }

    var isHeld: Bool {
        state.withLock { $0.isReleased ? nil : $0.claim }?.isValid ?? false
    }

    func isStillHeld() async -> Bool {
        await queue.run { self.isHeld }
    }

    func release() {
        let isFirst = state.withLock { state in
            defer { state.isReleased = true }
            return !state.isReleased
        }
        guard isFirst else { return }
        queue.start { [state, activity] in
            Self.unlock(state)
            activity?.end()
        }
    }

    /// Releases the lock, and returns when other processes can acquire it.
    func releaseNow() async {
        release()
        await queue.run {}
    }

    private static func unlock(_ state: Locked<State>) {
        let claim = state.withLock { state in
            defer { state.claim = nil }
            return state.claim
        }
        claim?.release()
    }
}
