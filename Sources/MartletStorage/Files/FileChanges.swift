internal import MartletLibc

/// A store that watches a file to learn of changes by other processes.
package protocol FileWatching {
    /// The file that changes with the record; `nil` if no other process can reach the record.
    var watchedFile: FileChanges? { get }
}

/// Reports changes of a file.
package struct FileChanges: Sendable {
    /// Watches a folder for changes of the file with this name.
    package typealias Watcher =
        @Sendable (_ folder: String, _ name: String, @escaping @Sendable () -> Void) throws(StorageError) -> FolderWatch

    /// The closure to call if watching fails, and the last failure; `nil` if a watch has begun since.
    private struct Failures {
        var report: (@Sendable (StorageError) -> Void)?
        var last: StorageError?
    }

    package static let watchFolder: Watcher = { (folder, name, report) throws(StorageError) -> FolderWatch in
        try FolderWatch(folder, reportChangesOf: name, to: report)
    }

    package let file: PrivateFile
    /// Runs the calls that may block.
    package let queue: BlockingQueue
    private let watcher: Watcher
    /// The listeners that are not watching yet.
    private let waiting = Locked<[Listener]>([])
    private let failures = Locked(Failures())

    package init(
        of file: PrivateFile, on queue: BlockingQueue,
        watcher: @escaping Watcher = FileChanges.watchFolder
    ) {
        self.file = file
        self.queue = queue
        self.watcher = watcher
    }

    /// Calls a closure when the file cannot be watched: immediately if that is so now, and after each later failure.
    package func onFailure(_ report: @escaping @Sendable (StorageError) -> Void) {
        let last = failures.withLock { failures in
            failures.report = report
            return failures.last
        }
        if let last { report(last) }
    }

    /// A stream that yields each time the file was replaced or deleted. Watching begins later, but before
    /// ``watchBegun()`` returns. Creates the folder if it is missing. If the folder is removed later, its replacement
    /// is not watched.
    package func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let listener = Listener { continuation.yield() }
        continuation.onTermination = { _ in listener.end() }
        waiting.withLock { $0.append(listener) }
        queue.start { self.watch() }
        return stream
    }

    /// Returns when all streams are watching. Call it before reading the record: the reader then sees earlier changes,
    /// and the streams report later ones. If the folder cannot be watched now, the streams check the file every few
    /// seconds, and the next call tries again.
    package func watchBegun() async {
        if !waiting.withLock(\.isEmpty) { await queue.run { watch() } }
    }

    /// Like ``watchBegun()``. Blocks, and must run in the queue.
    package func watch() {
        // A listener stays in the list until it is watching.
        let listeners = waiting.withLock { $0 }
        var failure: StorageError?
        var rest: [Listener] = []
        for listener in listeners {
            do throws(StorageError) {
                if try !listener.begin(file, watcher) { rest.append(listener) }
            } catch {
                failure = error
                listener.poll(file, on: queue)
                rest.append(listener)
            }
        }
        waiting.withLock { $0.replaceSubrange(..<listeners.count, with: rest) }
        guard !listeners.isEmpty else { return }
        let report = failures.withLock { failures in
            defer { failures.last = failure }
            return failures.last == nil ? failures.report : nil
        }
        if let failure { report?(failure) }
    }

    /// Checks the file for the streams that are not watching it. Blocks, and must run in the queue.
    package func poll() {
        for listener in waiting.withLock({ $0 }) { listener.look(at: file) }
    }
}

/// A stream of changes, and its watch.
private final class Listener: Sendable {
    private enum State {
        /// Watching has not begun. `hasTried`: there was no folder, and none could be created.
        case waiting(hasTried: Bool)
        /// The folder cannot be watched, so the file is checked every few seconds.
        case polling(PollTimer, last: Disk.Version?)
        case watching(FolderWatch)
        case ended
    }

    private let state = Locked(State.waiting(hasTried: false))
    private let report: @Sendable () -> Void

    init(report: @escaping @Sendable () -> Void) {
        self.report = report
    }

    /// Begins the watch, unless the stream has ended. Another reader of the store may be the one that begins it, so
    /// this reports a change since the last check.
    /// - Returns: `false` if there is no folder and none can be created.
    /// - Throws: An error if the folder cannot be watched.
    func begin(_ file: PrivateFile, _ watcher: FileChanges.Watcher) throws(StorageError) -> Bool {
        if case .ended = state.withLock({ $0 }) { return true }
        let (folder, name) = file.location
        guard (try? file.makeFolder()) != nil else {
            state.withLock { if case .waiting = $0 { $0 = .waiting(hasTried: true) } }
            return false
        }
        let watch = try watcher(folder, name, report)
        let before = state.withLock { state in
            let before = state
            if case .ended = before { return before }
            state = .watching(watch)
            return before
        }
        switch before {
        case .ended: watch.cancel()
        case .polling(let timer, let last):
            timer.cancel()
            if Self.version(of: file) != last { report() }
        case .waiting(let hasTried): if hasTried { report() }
        case .watching: break
        }
        return true
    }

    /// Checks the file every few seconds until watching begins or the stream ends.
    func poll(_ file: PrivateFile, on queue: BlockingQueue) {
        let version = Self.version(of: file)
        state.withLock { state in
            guard case .waiting = state else { return }
            let timer = PollTimer(on: queue) { [weak self] in self?.look(at: file) }
            state = .polling(timer, last: version)
        }
    }

    /// Reports a change of the file since the last check.
    func look(at file: PrivateFile) {
        let version = Self.version(of: file)
        let isChanged = state.withLock { state in
            guard case .polling(let timer, let last) = state, last != version else { return false }
            state = .polling(timer, last: version)
            return true
        }
        if isChanged { report() }
    }

    /// The version of the file or, if there is none, that of its folder: a file may come and go between two checks.
    private static func version(of file: PrivateFile) -> Disk.Version? {
        version(at: file.path) ?? version(at: file.location.folder)
    }

    private static func version(at path: String) -> Disk.Version? {
        var status = stat()
        return System.lstat(path, &status) == 0 ? Disk.Version(status) : nil
    }

    func end() {
        let before = state.withLock { state in
            defer { state = .ended }
            return state
        }
        switch before {
        case .watching(let watch): watch.cancel()
        case .polling(let timer, _): timer.cancel()
        case .waiting, .ended: break
        }
    }
}

private struct PollTimer: Sendable {
    private let task: Task<Void, Never>

    init(on queue: BlockingQueue, _ look: @escaping @Sendable () -> Void) {
        task = Task {
            while (try? await Task.sleep(for: .seconds(5))) != nil { await queue.run(look) }
        }
    }

    func cancel() {
        task.cancel()
    }
}
