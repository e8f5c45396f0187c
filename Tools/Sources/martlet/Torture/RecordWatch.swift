internal import Dispatch
internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// Reads the shared record over and over while others write it, and judges what it sees.
final class RecordWatch: Sendable {
    /// What was seen so far.
    struct Findings: Sendable {
        var reads = 0
        var torn: [String] = []
        /// A session that had ended came back, or one went back to tokens that it had before.
        var wentBack: [String] = []
    }

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

    /// - Parameter onChange: Told each record that is seen.
    init(path: String, onChange: @escaping @Sendable (StoredSession) -> Void) {
        url = URL(filePath: path)
        self.onChange = onChange
    }

    /// What was seen since the last time.
    func takeFindings() -> Findings {
        state.withLockedValue { state in
            defer { state.findings = Findings() }
            return state.findings
        }
    }

    /// Looks all the time from now on, on a thread that the rest of this process cannot keep busy.
    /// - Returns: What stops it when it is cancelled.
    func start() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(1))
        timer.setEventHandler { _ = self.read() }
        timer.resume()
        return timer
    }

    /// The session that the record has now; `nil` where there is none.
    func look() async -> SessionID? {
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
            state.withLockedValue { $0.findings.torn.append("the record cannot be read: \(error)") }
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
        do throws(StorageFailure) {
            now = try StoredSessionCodec.decode(bytes)
        } catch {
            findings.torn.append("\(error)")
            return
        }
        record = now
        if ended.contains(now.id) {
            findings.wentBack.append("session \(now.id) had ended, and its record is there again (\(now.stamp))")
        }
        guard let before else { return }
        if before.id != now.id {
            ended.insert(before.id)
        } else if now.rotation < before.rotation {
            findings.wentBack.append("the record went from \(before.stamp) back to \(now.stamp)")
        } else if now.rotation == before.rotation, now.bundle.refreshToken != before.bundle.refreshToken {
            findings.wentBack.append("the record has other tokens for the same rotation \(now.stamp)")
        }
    }
}
