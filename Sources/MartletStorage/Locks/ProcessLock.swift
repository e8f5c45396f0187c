/// A lock between processes, over a file.
///
/// It is an advisory lock of the system (`flock`), so the system releases it when the holder dies. If a holder keeps
/// the lock for longer than the lease, usually because it is suspended, a waiting process takes the lock away, and
/// ``HeldStoreLock/isHeld`` becomes `false` for the old holder. Time during which the device sleeps does not count
/// toward the lease.
///
/// On iOS, tvOS, watchOS and visionOS the system ends a suspended app that holds a lock in a shared container. On these
/// systems, the lock is acquired only if the system grants an expiring activity (`performExpiringActivity`), and is
/// released when that expires. So an app and its extensions may share a lock in the container of their app group.
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

    /// The pause between two attempts grows from the shortest to the longest.
    private static let shortestPause = Duration.milliseconds(1)
    private static let longestPause = Duration.milliseconds(50)

    /// Creates a lock over a file.
    /// - Parameters:
    ///   - path: The file, on a local disk; the same in all processes. The file and its folder, which only this user
    ///     can access, are created when needed. When a lock is taken away, a file with the same name and a number
    ///     (`path.1`, `path.2`) takes its place. Do not delete any of these files.
    ///   - time: The clock for waiting; the system's if `nil`.
    public convenience init(path: String, time: (any TimeSource)? = nil) {
        self.init(path: path, time: time ?? .system, activities: .platform)
    }

    package init(
        path: String, time: any TimeSource, activities: ExpiringActivities?, steps: FileSteps = .unobserved
    ) {
        self.lock = FileLock(path: path, steps: steps)
        self.time = time
        self.activities = activities
    }

    /// Waits for the lock without blocking a thread.
    /// - Parameter lease: The time to wait for one holder before taking the lock away from it.
    /// - Throws: `CancellationError` if the task is cancelled; ``StorageError`` if the file cannot be created or
    ///   locked.
    public func acquire(lease: Duration) async throws -> any HeldStoreLock {
        try await acquireHeld(lease: lease)
    }

    package func acquireHeld(lease: Duration) async throws -> HeldProcessLock {
        var activity: ExpiringActivity?
        let claim = Locked<FileLock.Claim?>(nil)
        do {
            var watched: FileLock.Holder?
            var remainingLease = lease
            var pause = Self.shortestPause
            var attemptedAt = time.uptime
            while true {
                try Task.checkCancellation()
                if let activities, activity?.isRunning != true {
                    activity = try await activities.begin("A session is refreshed or stored", time: time) { [queue] in
                        // If an attempt has already begun, the queue finishes it first.
                        queue.wait { HeldProcessLock.unlock(claim) }
                    }
                }
                let isStale = remainingLease <= .zero
                let holder: FileLock.Holder
                switch try await attempt(takingFrom: isStale ? watched : nil, within: activity, into: claim) {
                case .acquired: return HeldProcessLock(claim, activity, queue)
                case .busy(let current): holder = current
                case nil: continue
                }
                let now = time.uptime
                if holder == watched, !isStale {
                    // Do not count a much longer pause: the device was asleep, or this process suspended.
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

    /// - Parameters:
    ///   - activity: The activity within which the lock may be held; `nil` if it needs none.
    ///   - claim: Receives the acquired lock. The end of the activity releases it from then on.
    /// - Returns: `nil` if the activity is over, so the lock must not be acquired.
    private func attempt(
        takingFrom stale: FileLock.Holder?, within activity: ExpiringActivity?, into claim: Locked<FileLock.Claim?>
    ) async throws(StorageError) -> FileLock.Attempt? {
        try await queue.run { [lock] () throws(StorageError) in
            guard activity?.isRunning != false else { return nil }
            try PrivateFile(path: lock.path, steps: lock.steps).makeFolder()
            if let stale, let taken = try lock.takeAway(from: stale) {
                claim.withLock { $0 = taken }
                return .acquired(taken)
            }
            let attempt = try lock.attempt()
            if case .acquired(let acquired) = attempt { claim.withLock { $0 = acquired } }
            return attempt
        }
    }
}

/// An acquired lock, and the expiring activity within which it is held.
package final class HeldProcessLock: HeldStoreLock {
    /// `nil` once the file is unlocked.
    private let claim: Locked<FileLock.Claim?>
    private let isReleased = Locked(false)
    private let activity: ExpiringActivity?
    /// The queue of the lock: the next attempt to acquire the lock runs after its release.
    private let queue: BlockingQueue

    package init(_ claim: Locked<FileLock.Claim?>, _ activity: ExpiringActivity?, _ queue: BlockingQueue) {
        self.claim = claim
        self.activity = activity
        self.queue = queue
    }

    deinit {
        release()
    }

    package var isHeld: Bool {
        guard !isReleased.withLock({ $0 }) else { return false }
        return claim.withLock { $0 }?.isValid ?? false
    }

    package func isStillHeld() async -> Bool {
        await queue.run { self.isHeld }
    }

    package func release() {
        let isFirst = isReleased.withLock { isReleased in
            defer { isReleased = true }
            return !isReleased
        }
        guard isFirst else { return }
        queue.start { [claim, activity] in
            Self.unlock(claim)
            activity?.end()
        }
    }

    /// Releases the lock, and returns when other processes can acquire it.
    package func releaseNow() async {
        release()
        await queue.run {}
    }

    fileprivate static func unlock(_ claim: Locked<FileLock.Claim?>) {
        let held = claim.withLock { claim in
            defer { claim = nil }
            return claim
        }
        held?.release()
    }
}
