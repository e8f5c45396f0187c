public import Martlet

/// A stored session that several processes share, on a disk that does not make it easy.
///
/// Each process (a `TokenManager` of its own: the app, its widget) opens the disk for itself. What the disk does to each
/// operation is up to a closure: nothing, a delay, a failure. It changes the record atomically, hands out the lock that
/// processes share, and tells everybody of changes. A process can be killed at any moment: what it had not written yet is
/// lost, and its lock is free.
///
/// ```swift
/// let time = ManualTimeSource()
/// let disk = SimulatedDisk(time: time)
/// let app = TokenManager(baseURL: "…", store: disk.open("app"), refresher: refresher, time: time)
/// let widget = TokenManager(baseURL: "…", store: disk.open("widget"), refresher: refresher, time: time)
/// ```
public final class SimulatedDisk: Sendable {
    /// What a process asks of the disk.
    public enum Operation: Sendable, Hashable {
        /// Reading the record.
        case read
        /// Reading the record and writing or deleting it.
        case update
        /// Taking the lock.
        case lock
    }

    /// What the disk does to one operation.
    public struct Conduct: Sendable, Hashable {
        /// How long it takes before anything is done.
        public var before: Duration
        /// How long it takes after that until the process is told.
        public var after: Duration
        /// What goes wrong; `nil` where nothing does.
        public var trouble: Trouble?

        /// What the disk does to one operation; it works, and at once, unless told otherwise.
        public init(before: Duration = .zero, after: Duration = .zero, trouble: Trouble? = nil) {
            self.before = before
            self.after = after
            self.trouble = trouble
        }
    }

    /// What can go wrong with one operation.
    public enum Trouble: Sendable, Hashable {
        /// Nothing can be done: reading says "unavailable", everything else fails.
        case unreachable(StorageFailure)
        /// The record is there and cannot be read; it can be written over and deleted.
        case unreadable(StorageFailure)
        /// The record can be read; writing and deleting fail.
        case full(StorageFailure)
        /// It is done, and reported as failed: the disk broke down in between.
        case doneButFailed(StorageFailure)
    }

    /// What happened on the disk.
    public enum Incident: Sendable, Hashable {
        /// A process asks for something.
        case asked(Operation)
        /// The record was looked at and left as it was.
        case kept(StoreReading)
        /// The record was written.
        case wrote(StoredSession)
        /// The record was deleted; that is what it was.
        case deleted(StoredSession?)
        /// The operation failed, the last one with what it had been about to do, if it got so far.
        case failed(Operation, StorageFailure, StoreUpdate?)
        /// The process was told how its operation ended.
        case told(Operation)
        /// The process has the lock now.
        case locked
        /// The process has taken the lock from another one that held it for longer than its lease.
        case tookLock(from: String)
        /// The process gave the lock back.
        case unlocked
        /// The process was killed.
        case killed
    }

    /// Decides what the disk does to an operation of a process.
    public typealias Conducting = @Sendable (_ process: String, _ operation: Operation) -> Conduct

    struct State {
        var record: StoredSession?
        var listeners: [(process: String, id: Int, stream: AsyncStream<Void>.Continuation)] = []
        var lastID = 0
    }

    /// Kept apart from the record, since whoever decides on the record may ask whether the lock is still held.
    struct Line {
        var lastID = 0
        var holder: Holder?
        var inLine: [(id: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    struct Holder {
        var id: Int
        var process: String
        var deadline: Duration
    }

    let state: Guarded<State>
    let line = Guarded(Line())
    let time: any TimeSource
    let conduct: Conducting
    let report: @Sendable (_ process: String, Incident) -> Void

    /// A disk with a record, or without one.
    /// - Parameters:
    ///   - record: What is stored at the start.
    ///   - time: The clock of delays and leases.
    ///   - conduct: What the disk does to each operation. It works, and at once, by default.
    ///   - report: Is told what happens, in the order in which it does.
    public init(
        _ record: StoredSession? = nil, time: any TimeSource,
        conduct: @escaping Conducting = { _, _ in Conduct() },
        report: @escaping @Sendable (_ process: String, Incident) -> Void = { _, _ in }
    ) {
        self.state = Guarded(State(record: record))
        self.time = time
        self.conduct = conduct
        self.report = report
    }

    /// What is stored now.
    public var record: StoredSession? { state.withLock { $0.record } }

    /// The store as one process sees it.
    /// - Parameters:
    ///   - process: Its name in ``Incident``s. Names of processes that live at the same time must differ.
    ///   - isShared: Whether it reckons with other processes: takes the lock and listens for changes.
    public func open(_ process: String, isShared: Bool = true) -> SimulatedTokenStore {
        SimulatedTokenStore(disk: self, process: process, isShared: isShared)
    }

    func tellListeners() {
        for listener in state.withLock({ $0.listeners }) { listener.stream.yield() }
    }

    func changes(for process: String) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastID += 1
            state.listeners.append((process, state.lastID, continuation))
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners.removeAll { $0.id == id } }
        }
        return stream
    }

    func forget(_ process: String) {
        let streams = state.withLock { state in
            defer { state.listeners.removeAll { $0.process == process } }
            return state.listeners.filter { $0.process == process }.map(\.stream)
        }
        let inLine = line.withLock { line in
            if line.holder?.process == process { line.holder = nil }
            defer { line.inLine = [] }
            return line.inLine.map(\.continuation)
        }
        for stream in streams { stream.finish() }
        for continuation in inLine { continuation.resume() }
    }
}
