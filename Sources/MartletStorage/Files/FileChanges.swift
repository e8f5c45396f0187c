internal import MartletLibc

/// A store that watches a file to learn of changes by other processes.
package protocol FileWatching {
    /// The file that changes with the record; `nil` if no other process can reach the record.
    var watchedFile: FileChanges? { get }
}

/// Reports changes of a file.
package struct FileChanges: Sendable {
    /// Watches a folder for changes of the files with these names, and for its own end.
    package typealias Watcher =
        @Sendable (
            _ folder: String, _ names: [String], _ report: @escaping @Sendable () -> Void,
            _ reportEnd: @escaping @Sendable () -> Void
        ) throws(StorageError) -> FolderWatch

    /// The closure to call if watching fails, and the last failure; `nil` if a watch has begun since.
    private struct Failures {
        var reports: [@Sendable (StorageError) -> Void] = []
        var last: StorageError?
    }

    package static let watchFolder: Watcher = {
        (folder, names, report, reportEnd) throws(StorageError) -> FolderWatch in
        try FolderWatch(folder, reportChangesOf: names, to: report, reportEnd: reportEnd)
    }

    package let file: PrivateFile
    private let mark: PrivateFile
    /// Runs the calls that may block.
    package let queue: BlockingQueue
    private let watcher: Watcher
    /// The listeners that are not watching yet.
    private let waiting = Locked<[Listener]>([])
    private let failures = Locked(Failures())

    /// - Parameters:
    ///   - file: The file.
    ///   - mark: Another file in its folder, which changes first when a session ends. A process that is killed right
    ///     afterwards does not change the other one.
    ///   - queue: Runs the calls that may block.
    ///   - watcher: Begins the watch.
    package init(
        of file: PrivateFile, and mark: PrivateFile, on queue: BlockingQueue,
        watcher: @escaping Watcher = FileChanges.watchFolder
    ) {
        self.file = file
        self.mark = mark
        self.queue = queue
        self.watcher = watcher
    }

    /// Calls a closure when the file cannot be watched: immediately if that is so now, and after each later failure.
    package func onFailure(_ report: @escaping @Sendable (StorageError) -> Void) {
        let last = failures.withLock { failures in
            failures.reports.append(report)
            return failures.last
        }
        if let last { report(last) }
    }

    /// A stream that yields each time one of the files was replaced or deleted. Watching begins later, but before
    /// ``watchBegun()`` returns. Creates the folder if it is missing. If it is removed or moved later, the
    /// stream checks every few seconds whether there is a new one.
    package func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let listener = Listener(to: [file, mark]) {
            continuation.yield()
        } onFolderEnd: { listener in
            queue.start {
                waiting.withLock { $0.append(listener) }
                listener.poll(on: queue)
                watch()
            }
        }
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
                if try !listener.begin(watcher) { rest.append(listener) }
            } catch {
                failure = error
                listener.poll(on: queue)
                rest.append(listener)
            }
        }
        waiting.withLock { $0.replaceSubrange(..<listeners.count, with: rest) }
        guard !listeners.isEmpty else { return }
        let reports = failures.withLock { failures in
            defer { failures.last = failure }
            return failures.last == nil ? failures.reports : []
        }
        if let failure { for report in reports { report(failure) } }
    }

    /// Checks the files for the streams that are not watching them. Blocks, and must run in the queue.
    package func poll() {
        for listener in waiting.withLock({ $0 }) { listener.look() }
    }
}

/// A stream of changes, and its watch.
private final class Listener: Sendable {
    private enum State {
        /// Watching has not begun. `hasTried`: there was no folder, and none could be created.
        case waiting(hasTried: Bool)
        /// The folder cannot be watched, so the files are checked every few seconds.
        case polling(PollTimer, last: [Disk.Version?])
        case watching(FolderWatch)
        case ended
    }

    private let files: [PrivateFile]
    private let state = Locked(State.waiting(hasTried: false))
    private let hasLostFolder = Locked(false)
    private let report: @Sendable () -> Void
    /// `nil` once the stream has ended: the closure holds the list of listeners, which may hold this one.
    private let folderEnd: Locked<FolderEnd?>

    private struct FolderEnd {
        let report: @Sendable (Listener) -> Void
    }

    /// - Parameters:
    ///   - files: The files, all in one folder.
    ///   - report: Called after a change.
    ///   - onFolderEnd: Called when the watched folder was removed or moved. The files must be watched anew.
    init(
        to files: [PrivateFile], report: @escaping @Sendable () -> Void,
        onFolderEnd: @escaping @Sendable (Listener) -> Void
    ) {
        self.files = files
        self.report = report
        folderEnd = Locked(FolderEnd(report: onFolderEnd))
    }

    /// Stops a watch that sees no more changes.
    private func folderDidEnd() {
        let watch = state.withLock { state -> FolderWatch? in
            guard case .watching(let watch) = state else { return nil }
            state = .waiting(hasTried: true)
            return watch
        }
        guard let watch else { return }
        watch.cancel()
        hasLostFolder.withLock { $0 = true }
        report()
        folderEnd.withLock { $0 }?.report(self)
    }

    /// Begins the watch, unless the stream has ended. Another reader of the store may be the one that begins it, so
    /// this reports a change since the last check.
    /// - Returns: `false` if there is no folder and none can be created.
    /// - Throws: An error if the folder cannot be watched.
    func begin(_ watcher: FileChanges.Watcher) throws(StorageError) -> Bool {
        if case .ended = state.withLock({ $0 }) { return true }
        guard let file = files.first, makeFolder(of: file) else {
            state.withLock { if case .waiting = $0 { $0 = .waiting(hasTried: true) } }
            return false
        }
        let watch = try watcher(file.location.folder, files.map(\.location.name), report) { [weak self] in
            self?.folderDidEnd()
        }
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
            if versions != last { report() }
        case .waiting(let hasTried): if hasTried { report() }
        case .watching: break
        }
        return true
    }

    /// - Returns: Whether there is a folder. One that was removed or moved is not created again before a record is
    ///   written.
    private func makeFolder(of file: PrivateFile) -> Bool {
        if hasLostFolder.withLock({ $0 }) { return Disk.exists(file.location.folder) }
        return (try? file.makeFolder()) != nil
    }

    /// Checks the files every few seconds until watching begins or the stream ends.
    func poll(on queue: BlockingQueue) {
        let versions = versions
        state.withLock { state in
            guard case .waiting = state else { return }
            let timer = PollTimer(on: queue) { [weak self] in self?.look() }
            state = .polling(timer, last: versions)
        }
    }

    /// Reports a change of the files since the last check.
    func look() {
        let versions = versions
        let isChanged = state.withLock { state in
            guard case .polling(let timer, let last) = state, last != versions else { return false }
            state = .polling(timer, last: versions)
            return true
        }
        if isChanged { report() }
    }

    /// The version of each file. If there is none of the first, it is that of its folder: the file may come and go
    /// between two checks.
    private var versions: [Disk.Version?] {
        files.enumerated().map { index, file in
            Self.version(at: file.path) ?? (index == 0 ? Self.version(at: file.location.folder) : nil)
        }
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
        // Released outside the lock.
        _ = folderEnd.withLock { folderEnd in
            defer { folderEnd = nil }
            return folderEnd
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
