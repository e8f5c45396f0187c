internal import Dispatch

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
    private let queue = DispatchQueue(label: "martlet.process-lock")

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
                case .acquired(let claim): return HeldProcessLock(claim, activity)
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
        let result = await withCheckedContinuation { continuation in
            queue.async { [lock] in
                continuation.resume(
                    returning: Result { () throws(StorageError) -> FileLock.Attempt in
                        try PrivateFile(path: lock.path).makeFolder()
                        if let stale, let claim = try lock.takeAway(from: stale) { return .acquired(claim) }
                        return try lock.attempt()
                    })
            }
        }
        return try result.get()
    }
}

/// An acquired lock and the activity of the process that goes with it.
private final class HeldProcessLock: HeldStoreLock {
    private let claim: Locked<FileLock.Claim?>
    private let activity: ExpiringActivity?

    init(_ claim: FileLock.Claim, _ activity: ExpiringActivity?) {
        self.claim = Locked(claim)
        self.activity = activity
        activity?.onExpiry { [weak self] in self?.unlock() }
    }

    deinit {
        release()
    }

    var isHeld: Bool {
        claim.withLock { $0 }?.isValid ?? false
    }

    func release() {
        unlock()
        activity?.end()
    }

    private func unlock() {
        claim.withLock { claim in
            claim?.release()
            claim = nil
        }
    }
}
