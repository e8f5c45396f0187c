internal import Dispatch

/// A lock between processes, in a file beside what it guards.
///
/// It is an advisory lock of the system (`flock`), so a holder that dies frees it at once. A holder that is stopped does not:
/// whoever has waited for it for longer than the lease takes the lock away, and the old holder sees that in
/// ``HeldStoreLock/isHeld``. While the device sleeps no lease runs out.
///
/// On iOS, tvOS, watchOS and visionOS it is held within an expiring activity of the process, because the system ends a
/// suspended app that holds a lock in a shared container: the lock is given back when the system asks, and not taken while
/// it allows no activity. App extensions have such activities too, so an app and its extensions may share a lock in the
/// container of their group.
///
/// ```swift
/// let lock = ProcessLock(path: "/var/lib/example/session.json.refresh.lock")
/// let held = try await lock.acquire(lease: .seconds(45))
/// defer { held.release() }
/// ```
public final class ProcessLock: StoreLock {
    /// Where the file is. It stays there, and holds a number that means nothing.
    public let path: String
    private let lock: FileLock
    private let time: any TimeSource
    private let activities: ExpiringActivities?
    private let queue = DispatchQueue(label: "martlet.process-lock")

    /// How long a waiter rests between two looks, which is at most how long the lock lies idle.
    private static let shortestPause = Duration.milliseconds(1)
    private static let longestPause = Duration.milliseconds(50)

    /// A lock in the file at a path, whose folder is made for this user alone where it is missing.
    /// - Parameters:
    ///   - path: Where the file is. All processes must name the same one, on a local disk.
    ///   - time: The clock to wait by.
    public convenience init(path: String, time: any TimeSource = .system) {
        self.init(path: path, time: time, activities: .platform)
    }

    init(
        path: String, time: any TimeSource, activities: ExpiringActivities?, steps: FileSteps = .untold
    ) {
        self.path = path
        self.lock = FileLock(path: path, steps: steps)
        self.time = time
        self.activities = activities
    }

    /// Waits for the lock without blocking a thread.
    /// - Parameter lease: How long one and the same holder is waited for.
    /// - Throws: `CancellationError` when the task is cancelled; ``StorageFailure`` where there can be no such file.
    public func acquire(lease: Duration) async throws -> any HeldStoreLock {
        var activity: ExpiringActivity?
        do {
            var watched: FileLock.Holder?
            var patience = lease
            var pause = Self.shortestPause
            var lookedAt = time.uptime
            while true {
                try Task.checkCancellation()
                if let activities, activity?.isRunning != true {
                    activity = await activities.begin("A session is renewed or stored")
                    guard activity != nil else {
                        // The app is about to be suspended, and goes on with this when it is awake again.
                        try await time.sleep(until: time.uptime + .seconds(1))
                        continue
                    }
                }
                let isStale = patience <= .zero
                let attempt = try await look(takingFrom: isStale ? watched : nil)
                let holder: FileLock.Holder
                switch attempt {
                case .taken(let claim): return HeldProcessLock(claim, activity)
                case .busy(let current): holder = current
                }
                let now = time.uptime
                if holder == watched, !isStale {
                    // A rest that took far longer than it should was a device asleep, or this process was stopped.
                    patience -= min(now - lookedAt, pause * 4)
                } else {
                    watched = holder
                    patience = lease
                }
                lookedAt = now
                try await time.sleep(until: now + pause * Double.random(in: 0.5...1))
                pause = min(pause * 1.5, Self.longestPause)
            }
        } catch {
            activity?.end()
            throw error
        }
    }

    private func look(takingFrom stale: FileLock.Holder?) async throws(StorageFailure) -> FileLock.Attempt {
        let result = await withCheckedContinuation { continuation in
            queue.async { [lock] in
                continuation.resume(
                    returning: Result { () throws(StorageFailure) -> FileLock.Attempt in
                        try PrivateFile(path: lock.path).makeFolder()
                        if let stale, let claim = try lock.takeAway(from: stale) { return .taken(claim) }
                        return try lock.attempt()
                    })
            }
        }
        return try result.get()
    }
}

/// The lock as long as nobody has taken it away and the system lets this process go on.
private final class HeldProcessLock: HeldStoreLock {
    private let claim: Locked<FileLock.Claim?>
    private let activity: ExpiringActivity?

    init(_ claim: FileLock.Claim, _ activity: ExpiringActivity?) {
        self.claim = Locked(claim)
        self.activity = activity
        activity?.onExpiry { [weak self] in self?.drop() }
    }

    deinit {
        release()
    }

    var isHeld: Bool {
        claim.withLock { $0 }?.stands ?? false
    }

    func release() {
        drop()
        activity?.end()
    }

    private func drop() {
        claim.withLock { claim in
            claim?.drop()
            claim = nil
        }
    }
}
