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

    /// The last record, the sessions that have ended, and the observations.
    fileprivate struct State {
        var findings = Findings()
        var bytes: Data?
        var record: StoredSession?
        var ended: Set<SessionID> = []
    }

    private let url: URL
    private let onChange: @Sendable (StoredSession) -> Void
    private let queue = DispatchQueue(label: "martlet.torture.record")
    private let state = NIOLockedValueBox(State())

    /// - Parameter onChange: Called with each new record.
    init(path: String, onChange: @escaping @Sendable (StoredSession) -> Void) {
        url = URL(filePath: path)
        self.onChange = onChange
    }

    /// Returns the observations since the last call.
    func takeFindings() -> Findings {
        state.withLockedValue { state in
            defer { state.findings = Findings() }
            return state.findings
        }
    }

    /// Reads the record every millisecond, on a queue of its own that other work of this process cannot delay.
    /// - Returns: The timer. Cancel it to stop.
    func start() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(1))
        timer.setEventHandler { _ = self.read() }
        timer.resume()
        return timer
    }

    /// Reads the record and returns its session, or `nil` if there is none.
    func readNow() async -> SessionID? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.read()) }
        }
    }

    private func read() -> SessionID? {
        let bytes: Data?
        do {
            bytes = try Data(contentsOf: url)
        } catch CocoaError.fileReadNoSuchFile {
            bytes = nil
        } catch {
            state.withLockedValue { $0.findings.torn.append("cannot read the record: \(error)") }
            return state.withLockedValue { $0.record?.id }
        }
        return state.withLockedValue { state in
            state.findings.reads += 1
            if bytes != state.bytes {
                state.bytes = bytes
                state.judge(bytes)
                if let record = state.record { onChange(record) }
            }
            return state.record?.id
        }
    }
}

extension RecordWatch.State {
    fileprivate mutating func judge(_ bytes: Data?) {
        let before = record
        guard let bytes else {
            if let before { ended.insert(before.id) }
            record = nil
            return
        }
        let now: StoredSession
        do throws(StorageError) {
            now = try StoredSession(encoded: bytes)
        } catch {
            findings.torn.append("\(error)")
            return
        }
        record = now
        if ended.contains(now.id) {
            findings.regressions.append("the record of session \(now.id) reappeared after its end (\(now.stamp))")
        }
        guard let before else { return }
        if before.id != now.id {
            ended.insert(before.id)
        } else if now.stamp.rotation < before.stamp.rotation {
            findings.regressions.append("the record went back from \(before.stamp) to \(now.stamp)")
        } else if now.stamp.rotation == before.stamp.rotation, now.bundle.refreshToken != before.bundle.refreshToken {
            findings.regressions.append("the tokens of the record changed within rotation \(now.stamp)")
        }
    }
}
