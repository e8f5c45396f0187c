public import Martlet

/// A simulated disk with one stored session, shared by several simulated processes, with delays and failures.
///
/// Each process, such as an app and its widget, has its own `TokenManager` and opens the disk with
/// ``open(_:isShared:)``. A closure chooses the ``Behavior`` of each operation: a delay, a failure or neither. The disk
/// changes the record atomically, provides the lock that the processes share, and notifies them of changes. A process
/// can be killed at any time: it loses everything that it has not written yet, and its lock becomes free.
///
/// ```swift
/// let time = ManualTimeSource()
/// let disk = SimulatedDisk(time: time)
/// let app = TokenManager(baseURL: "…", store: disk.open("app"), refresher: refresher, time: time)
/// let widget = TokenManager(baseURL: "…", store: disk.open("widget"), refresher: refresher, time: time)
/// ```
public final class SimulatedDisk: Sendable {
    /// An operation of a process on the disk.
    public enum Operation: Sendable, Hashable {
        /// Reading the record.
        case read
        /// Reading the record and writing or deleting it.
        case update
        /// Acquiring the lock.
        case lock
    }

    /// The delays and the failure of one operation.
    public struct Behavior: Sendable, Hashable {
        /// The time that the disk waits before it performs the operation.
        public var before: Duration
        /// The time that the disk waits after that, before the process gets the result.
        public var after: Duration
        /// The failure; `nil` for an operation that succeeds.
        public var fault: Fault?

        /// Creates a behavior. By default, the operation succeeds without delay.
        public init(before: Duration = .zero, after: Duration = .zero, fault: Fault? = nil) {
            self.before = before
            self.after = after
            self.fault = fault
        }
    }

    /// A failure of one operation.
    public enum Fault: Sendable, Hashable {
        /// The disk cannot be reached: reads report `.unavailable`, all other operations fail.
        case unreachable(StorageError)
        /// The record exists but cannot be read. It can be overwritten and deleted.
        case unreadable(StorageError)
        /// The disk is full: the record can be read, but writing and deleting fail.
        case full(StorageError)
        /// The disk performs the operation, then reports it as failed.
        case failedAfterCommit(StorageError)
    }

    /// Something that happened on the disk.
    public enum Event: Sendable, Hashable {
        /// A process requested an operation.
        case requested(Operation)
        /// The record was read and left unchanged.
        case read(StoreReading)
        /// The record was written.
        case wrote(StoredSession)
        /// The record was deleted; the value is the deleted record.
        case deleted(StoredSession?)
        /// The operation failed. The last value is the update that failed, if the operation had decided on one.
        case failed(Operation, StorageError, StoreUpdate?)
        /// The process received the result of its operation.
        case completed(Operation)
        /// The process acquired the lock.
        case locked
        /// The process took over the lock from a process whose lease had expired.
        case tookOverLock(from: String)
        /// The process released the lock.
        case unlocked
        /// The process was killed.
        case killed
    }

    /// Returns the behavior of the disk for an operation of a process.
    public typealias BehaviorProvider = @Sendable (_ process: String, _ operation: Operation) -> Behavior

    /// The record, and the processes that observe its changes.
    struct State {
        var record: StoredSession?
        /// The mark that says which sessions have ended.
        var mark: EndMark?
        var listeners: [(process: String, id: Int, stream: AsyncStream<Void>.Continuation)] = []
        var lastID = 0

        func reading(keepsMark: Bool) -> StoreReading {
            if let record { return .found(record) }
            return keepsMark ? mark.map { .ended($0) } ?? .empty : .empty
        }
    }

    /// The holder of the store lock, and the processes that wait for it. It is separate from ``State``, because a
    /// closure that decides on the record may check whether the store lock is still held.
    struct LockQueue {
        var lastID = 0
        var holder: Holder?
        var waiters: [(id: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// The process that holds the store lock, until its lease ends at the deadline.
    struct Holder {
        var id: Int
        var process: String
        var deadline: Duration
    }

    let state: Locked<State>
    let lockQueue = Locked(LockQueue())
    let time: any TimeSource
    let behavior: BehaviorProvider
    let report: @Sendable (_ process: String, Event) -> Void

    /// Creates a disk, empty or with a record.
    /// - Parameters:
    ///   - record: The initial record.
    ///   - time: The clock for delays and leases.
    ///   - behavior: Returns the behavior for each operation. By default, all operations succeed without delay.
    ///   - report: Receives the events, in the order in which they happen.
    public init(
        _ record: StoredSession? = nil, time: any TimeSource,
        behavior: @escaping BehaviorProvider = { _, _ in Behavior() },
        report: @escaping @Sendable (_ process: String, Event) -> Void = { _, _ in }
    ) {
        self.state = Locked(State(record: record))
        self.time = time
        self.behavior = behavior
        self.report = report
    }

    /// The stored record.
    public var record: StoredSession? { state.withLock { $0.record } }

    /// The result of reading the record now.
    func reading(keepsMark: Bool) -> StoreReading {
        state.withLock { $0.reading(keepsMark: keepsMark) }
    }

    /// Opens the disk for one process.
    /// - Parameters:
    ///   - process: The name of the process in reports. Processes that run at the same time must have different names.
    ///   - isShared: Whether the process expects other processes, so that it acquires the lock and observes changes.
    public func open(_ process: String, isShared: Bool = true) -> SimulatedTokenStore {
        open(process, isShared: isShared, keepsMark: isShared)
    }

    /// Opens the disk for one process. A store that is not shared may keep the mark in place of the record.
    func open(_ process: String, isShared: Bool, keepsMark: Bool) -> SimulatedTokenStore {
        SimulatedTokenStore(disk: self, process: process, isShared: isShared, keepsMark: keepsMark)
    }

    func notifyListeners() {
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

    /// Removes a killed process: ends its streams and frees its lock.
    func forget(_ process: String) {
        let streams = state.withLock { state in
            defer { state.listeners.removeAll { $0.process == process } }
            return state.listeners.filter { $0.process == process }.map(\.stream)
        }
        let waiters = lockQueue.withLock { lockQueue in
            if lockQueue.holder?.process == process { lockQueue.holder = nil }
            defer { lockQueue.waiters = [] }
            return lockQueue.waiters.map(\.continuation)
        }
        for stream in streams { stream.finish() }
        for continuation in waiters { continuation.resume() }
    }
}
