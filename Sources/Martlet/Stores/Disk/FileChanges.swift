/// Reports changes of a file.
struct FileChanges: Sendable {
    let file: PrivateFile
    /// Runs the calls that may block.
    let queue: BlockingQueue
    /// The listeners whose watch has not begun.
    private let waiting = Locked<[Listener]>([])

    init(of file: PrivateFile, on queue: BlockingQueue) {
        self.file = file
        self.queue = queue
    }

    /// A stream that yields each time the file was replaced or deleted. Its watch begins later, but before
    /// ``watchBegun()`` returns. Creates the folder if it is missing. If the folder is removed later, its replacement is
    /// not watched.
    func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let listener = Listener { continuation.yield() }
        continuation.onTermination = { _ in listener.end() }
        waiting.withLock { $0.append(listener) }
        queue.start { self.watch() }
        return stream
    }

    /// Returns when the watches of all streams have begun. Call it before the record is read: the reader sees earlier
    /// changes, and the streams report later ones. If the folder cannot be watched now, the next call tries again.
    func watchBegun() async {
        if !waiting.withLock(\.isEmpty) { await queue.run { watch() } }
    }

    /// Like ``watchBegun()``. Blocks, and must run in the queue.
    func watch() {
        // A listener stays in the list until its watch has begun.
        let listeners = waiting.withLock { $0 }
        let rest = listeners.filter { !$0.begin(file) }
        waiting.withLock { $0.replaceSubrange(..<listeners.count, with: rest) }
    }
}

/// A stream of changes, and its watch.
private final class Listener: Sendable {
    private enum State {
        case waiting
        case watching(FolderWatch)
        case ended
    }

    private let state = Locked(State.waiting)
    private let report: @Sendable () -> Void

    init(report: @escaping @Sendable () -> Void) {
        self.report = report
    }

    /// Begins the watch, unless the stream has ended.
    /// - Returns: `false` if the folder cannot be watched.
    func begin(_ file: PrivateFile) -> Bool {
        if case .ended = state.withLock({ $0 }) { return true }
        let (folder, name) = file.location
        guard (try? file.makeFolder()) != nil, let watch = FolderWatch(folder, reportChangesOf: name, to: report) else {
            return false
        }
        let hasEnded = state.withLock { state in
            if case .ended = state { return true }
            state = .watching(watch)
            return false
        }
        if hasEnded { watch.cancel() }
        return true
    }

    func end() {
        let before = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .watching(let watch) = before { watch.cancel() }
    }
}
