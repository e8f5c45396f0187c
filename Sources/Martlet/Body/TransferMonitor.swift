/// Tells how far a call's bytes have got: those of its body on their way out, those of a download on their way in.
///
/// ```swift
/// let monitor = TransferMonitor()
/// Task {
///     for await event in monitor.events {
///         if case .sent(let count) = event { bar.value = count.fraction ?? 0 }
///     }
/// }
/// let user: User = try await client.send(UploadPicture(picture), monitor: monitor)
/// ```
///
/// Counts grow within an attempt and start anew with the next one, which ``TransferEvent/attempt(_:)`` announces: a call that
/// is repeated after a 401 sends its body again. An attempt that takes its body along to another place, as a 307 asks for, is
/// announced again. A download that goes on where it broke off starts from there.
///
/// A monitor is for one call at a time. Its ``events`` end with the call.
public final class TransferMonitor: Sendable {
    private struct State {
        var attempt = 0
        /// Goes up with every start, so that what comes late from an earlier one is known.
        var pass = 0
        /// Which body is to go out: one that is read late, after its attempt was given up, starts nothing any more.
        var body = 0
        var sent = TransferCount()
        var received = TransferCount()
        var isFinished = false
        /// When listeners were told last, and which counts.
        var toldAt: Duration?
        var toldSent = TransferCount()
        var toldReceived = TransferCount()
        var listeners = Broadcast<TransferEvent>()
    }

    private let interval: Duration
    private let time: any TimeSource
    private let state = Locked(State())

    /// A monitor for a call.
    /// - Parameters:
    ///   - interval: How much time lies between two events at least. The first and the last count of a body, and new
    ///     attempts, are told at once.
    ///   - time: The clock.
    public init(interval: Duration = .milliseconds(100), time: any TimeSource = .system) {
        self.interval = interval
        self.time = time
    }

    deinit {
        state.withLock { $0.listeners.finish() }.wake()
    }

    /// The number of the attempt that is under way, from 1; 0 before the first.
    public var attempt: Int { state.withLock { $0.attempt } }

    /// How much of the body has been handed to the network in this attempt.
    public var sent: TransferCount { state.withLock { $0.sent } }

    /// How much of the answer has come in this attempt.
    public var received: TransferCount { state.withLock { $0.received } }

    /// How many listen.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// What there is to tell now, then all that follows until the call ends.
    ///
    /// A listener that does not keep up misses counts between, and no attempt: the newest counts are always told. Each
    /// call of this property makes a listener of its own.
    public var events: AsyncStream<TransferEvent> {
        state.withLock { state in
            var first: [TransferEvent] = []
            if state.attempt > 0 {
                first.append(.attempt(state.attempt))
                if state.sent != TransferCount() { first.append(.sent(state.sent)) }
                if state.received != TransferCount() { first.append(.received(state.received)) }
            }
            guard state.isFinished else {
                return state.listeners.add(first: first) { pending, newest in
                    pending.removeAll { $0.isReplaced(by: newest) }
                    pending.append(newest)
                }
            }
            return AsyncStream { [first] continuation in
                for event in first { continuation.yield(event) }
                continuation.finish()
            }
        }
    }
}

// MARK: - For the client

extension TransferMonitor {
    /// A call begins, or another attempt of it.
    /// - Returns: What the counts of it are to name.
    @discardableResult
    package func start(attempt: Int) -> Int {
        begin(attempt) { state in
            state.body += 1
            return true
        }
    }

    /// The number of what was announced last: a call, an attempt, a body or the end.
    var announced: Int { state.withLock { $0.body } }

    /// A body is about to be handed to the transport.
    /// - Parameter last: What was announced last of its attempt. If something else has been since, the attempt was given up,
    ///   and its body is not wanted.
    /// - Returns: What `startBody(_:attempt:)` is to be called with when it is read.
    func announceBody(after last: Int) -> Int {
        state.withLock { state in
            guard state.body == last else { return last }
            state.body += 1
            return state.body
        }
    }

    /// The transport begins to read a body, perhaps once more within its attempt.
    /// - Returns: What the counts of it are to name.
    func startBody(_ body: Int, attempt: Int) -> Int {
        begin(attempt) { $0.body == body }
    }

    private func begin(_ attempt: Int, if isWanted: (inout State) -> Bool) -> Int {
        var pass = -1
        tell { state in
            guard isWanted(&state) else { return nil }
            state.pass += 1
            pass = state.pass
            // It has been announced, and nothing has happened since.
            let isAnnounced = state.attempt == attempt && !state.isFinished
            if isAnnounced, state.sent == TransferCount(), state.received == TransferCount() { return nil }
            state.attempt = attempt
            state.sent = TransferCount()
            state.received = TransferCount()
            state.isFinished = false
            state.toldAt = nil
            state.toldSent = TransferCount()
            state.toldReceived = TransferCount()
            return .attempt(attempt)
        }
        return pass
    }

    /// The attempt's body has got so far.
    package func send(_ count: TransferCount, in pass: Int) {
        tell { state in
            guard pass == state.pass else { return nil }
            let isFirst = state.sent == TransferCount()
            state.sent = count
            return due(&state, isFirst || count.isComplete) ? .sent(count) : nil
        }
    }

    /// The attempt's answer has got so far.
    func receive(_ count: TransferCount, in pass: Int) {
        tell { state in
            guard pass == state.pass else { return nil }
            let isFirst = state.received == TransferCount()
            state.received = count
            return due(&state, isFirst || count.isComplete) ? .received(count) : nil
        }
    }

    /// What counts are to name now.
    var pass: Int { state.withLock { $0.pass } }

    /// The call is over, well or not.
    package func finish() {
        let listeners = state.withLock { state in
            var listeners = Wakeups()
            // For the interval it was held back; it is told at the end.
            if state.sent != state.toldSent { listeners += state.listeners.tell(.sent(state.sent)) }
            if state.received != state.toldReceived { listeners += state.listeners.tell(.received(state.received)) }
            listeners += state.listeners.finish()
            state.isFinished = true
            state.body += 1
            return listeners
        }
        listeners.wake()
    }

    private func tell(_ change: (inout State) -> TransferEvent?) {
        let listeners = state.withLock { state in
            guard let event = change(&state) else { return Wakeups() }
            switch event {
            case .attempt: break
            case .sent(let count): state.toldSent = count
            case .received(let count): state.toldReceived = count
            }
            return state.listeners.tell(event)
        }
        listeners.wake()
    }

    private func due(_ state: inout State, _ isUrgent: Bool) -> Bool {
        guard state.listeners.count > 0 else { return false }
        let now = time.uptime
        if !isUrgent, let toldAt = state.toldAt, now - toldAt < interval { return false }
        state.toldAt = now
        return true
    }
}

/// Something that a ``TransferMonitor`` has to tell.
public enum TransferEvent: Sendable, Hashable {
    /// An attempt begins, the first with number 1: all counts start anew.
    case attempt(Int)
    /// So much of the body has been handed to the network.
    case sent(TransferCount)
    /// So much of the answer has come.
    case received(TransferCount)
}

/// How far a body has got, in bytes.
public struct TransferCount: Sendable, Hashable {
    /// How many bytes have passed.
    public let completed: Int64
    /// How many there will be, where that is known.
    public let total: Int64?

    /// A count of bytes.
    /// - Parameters:
    ///   - completed: How many bytes have passed; not below zero.
    ///   - total: How many there will be; `nil` where nobody knows.
    public init(completed: Int64 = 0, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }

    /// From 0 to 1; `nil` where nobody knows how many bytes there will be.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(Double(completed) / Double(total), 1) : 1
    }

    var isComplete: Bool { completed == total }
}

extension TransferEvent {
    fileprivate func isReplaced(by newer: TransferEvent) -> Bool {
        switch (self, newer) {
        case (.sent, .sent), (.received, .received), (.sent, .attempt), (.received, .attempt): true
        default: false
        }
    }
}
