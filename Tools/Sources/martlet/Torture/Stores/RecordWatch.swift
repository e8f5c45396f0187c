internal import Dispatch
internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// Reads the shared record repeatedly while workers write it, and detects torn records and regressions.
final class RecordWatch: Sendable {
    /// The observations so far.
    struct Findings: Sendable {
        var reads = 0
        var torn: [String] = []
        /// Ended sessions that reappeared, and records that returned to earlier tokens.
        var regressions: [String] = []
    }

    private let kind: TortureStore
    private let store: AnyTokenStore
    private let path: String
    private let onChange: @Sendable (StoredSession) -> Void
    private let queue = DispatchQueue(label: "martlet.torture.record")
    private let state = NIOLockedValueBox((seen: Data?.none, history: RecordHistory()))

    /// - Parameters:
    ///   - folder: The folder of the test.
    ///   - onChange: Called with each new record.
    init(_ kind: TortureStore, in folder: String, onChange: @escaping @Sendable (StoredSession) -> Void) {
        self.kind = kind
        store = kind.open(in: folder)
        path = kind.path(in: folder)
        self.onChange = onChange
    }

    /// Returns the observations since the last call.
    func takeFindings() -> Findings {
        state.withLockedValue { $0.history.takeFindings() }
    }

    /// Looks for a change every millisecond, on a queue of its own that other work of this process cannot delay.
    /// - Returns: The timer. Cancel it to stop.
    func start() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(1))
        timer.setEventHandler { self.look() }
        timer.resume()
        return timer
    }

    /// Reads the record and returns its session, or `nil` if there is none.
    func readNow() async -> SessionID? {
        await withCheckedContinuation { continuation in
            queue.async {
                self.read()
                continuation.resume(returning: self.state.withLockedValue { $0.history.record?.id })
            }
        }
    }

    private func look() {
        let now = fingerprint
        let isNew = state.withLockedValue { state in
            if kind != .secretService { state.history.findings.reads += 1 }
            defer { state.seen = now }
            return state.seen != now
        }
        if isNew { read() }
    }

    /// Differs after each change of the record: the bytes of its file, or the identity of the marker that each change
    /// replaces.
    private var fingerprint: Data? {
        if kind != .secretService { return try? Data(contentsOf: URL(filePath: path)) }
        return withUnsafeTemporaryAllocation(of: stat.self, capacity: 1) { status in
            guard let first = status.baseAddress, stat(path, first) == 0 else { return nil }
            return Data(UnsafeRawBufferPointer(status))
        }
    }

    /// Reads the record on the queue, whose thread waits for it.
    private func read() {
        let reading = NIOLockedValueBox(StoreReading.empty)
        let done = DispatchSemaphore(value: 0)
        Task(priority: .high) { [store] in
            let found = await store.read()
            reading.withLockedValue { $0 = found }
            done.signal()
        }
        done.wait()
        let record = state.withLockedValue { state -> StoredSession? in
            state.history.findings.reads += 1
            return state.history.add(reading.withLockedValue { $0 }) ? state.history.record : nil
        }
        if let record { onChange(record) }
    }
}

/// The part of a store's past that is needed to judge the next record.
struct RecordHistory: Sendable {
    fileprivate(set) var findings = RecordWatch.Findings()
    private(set) var record: StoredSession?
    private var ended: Set<SessionID> = []

    mutating func takeFindings() -> RecordWatch.Findings {
        defer { findings = RecordWatch.Findings() }
        return findings
    }

    /// Adds the latest reading.
    /// - Returns: Whether the record has changed.
    mutating func add(_ reading: StoreReading) -> Bool {
        switch reading {
        case .unavailable(let error):
            findings.torn.append("\(error)")
            return false
        case .empty, .ended:
            guard let before = record else { return false }
            ended.insert(before.id)
            record = nil
            return true
        case .found(let now):
            let before = record
            guard before != now else { return false }
            record = now
            judge(now, after: before)
            return true
        }
    }

    private mutating func judge(_ now: StoredSession, after before: StoredSession?) {
        if ended.contains(now.id) {
            findings.regressions.append("the record of session \(now.id) reappeared after its end (\(now.stamp))")
        }
        guard let before else { return }
        if before.id != now.id {
            ended.insert(before.id)
        } else if now.stamp.rotation < before.stamp.rotation {
            findings.regressions.append("the record went back from \(before.stamp) to \(now.stamp)")
        } else if now.stamp.rotation == before.stamp.rotation, now.tokens.refreshToken != before.tokens.refreshToken {
            findings.regressions.append("the tokens of the record changed within rotation \(now.stamp)")
        }
    }
}
