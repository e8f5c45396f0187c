/// Keeps the unfinished file of a download locked while the system cannot suspend the process.
///
/// On iOS, tvOS, watchOS and visionOS the system terminates a suspended app that holds a lock in a shared container. On
/// these systems, all work on the files of a download is done within an expiring activity of the process. When the
/// activity expires, the lock is given up. The next work begins another activity and locks the file again; that fails
/// if another process has used the file in between.
final class DownloadHold: Sendable {
    /// The system grants no activity now, because the app is about to be suspended.
    struct Suspending: Error {}

    private struct State {
        var activity: SharedActivity.Membership?
        /// The file of the download. It is locked unless ``isGivenUp``.
        var file: IncomingFile?
        /// The state of the file when its lock was given up.
        var mark: IncomingFile.Mark?
        var isGivenUp = false
    }

    private let activity: SharedActivity?
    private let time: any TimeSource
    /// All work runs here, including giving up the lock.
    private let queue: BlockingQueue
    private let state = Locked(State())

    init(
        on queue: BlockingQueue, activity: SharedActivity? = .downloads, time: any TimeSource = .system
    ) {
        self.queue = queue
        self.activity = activity
        self.time = time
    }

    deinit {
        state.withLock { $0.activity }?.leave()
    }

    /// Runs work in the queue, with the file locked. While the app is about to be suspended, waits until it resumes.
    /// - Parameter check: Called in the queue before the file is locked. If it throws, nothing else is done.
    func run<Result: Sendable>(
        after check: @escaping @Sendable () throws -> Void = {}, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        while true {
            do {
                return try await queue.run {
                    try check()
                    try self.prepare()
                    return try work()
                }
            } catch is Suspending {
                try await time.sleep(until: time.uptime + ExpiringActivities.pause)
            }
        }
    }

    /// Makes sure that the file stays locked until the current work of the queue ends.
    /// - Throws: ``Suspending``; ``FileError`` if another process has used the file while it was not locked.
    func prepare() throws {
        guard let activity else { return }
        if state.withLock({ $0.activity?.isRunning }) != true {
            // An expiry during this work waits for the queue.
            let membership = activity.join { [weak self, queue] in queue.wait { self?.giveUp() } }
            guard let membership else { throw Suspending() }
            state.withLock { $0.activity = membership }
        }
        let (file, mark, isGivenUp) = state.withLock { ($0.file, $0.mark, $0.isGivenUp) }
        guard let file, isGivenUp else { return }
        try file.takeLockAgain(mark)
        state.withLock { ($0.mark, $0.isGivenUp) = (nil, false) }
    }

    /// Takes over a locked file to keep it locked.
    func keep(_ file: IncomingFile?) {
        state.withLock { $0.file = file }
    }

    /// Closes the file, if no other reference to it is left, and allows the system to suspend the process. Blocks.
    func end() {
        let membership = state.withLock(\.activity)
        do {
            // Closed outside the lock of the state, because that may block.
            _ = state.withLock { state in
                defer { state = State() }
                return state
            }
        }
        membership?.leave()
    }

    private func giveUp() {
        guard let file = state.withLock({ $0.isGivenUp ? nil : $0.file }) else { return }
        let mark = file.giveUpLock()
        state.withLock { ($0.mark, $0.isGivenUp) = (mark, true) }
    }
}
