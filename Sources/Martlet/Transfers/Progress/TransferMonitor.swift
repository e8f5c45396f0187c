/// Reports the progress of a call: how much of its body has been sent, and how much of a download has been received.
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
/// Counts restart with each attempt (``TransferEvent/attempt(_:)``), because a retry after a 401 sends the body again.
/// A redirect that sends the body again, such as a 307, reports its attempt once more. A resumed download starts at the
/// position where it resumes.
///
/// Use a monitor for one call at a time. Its ``events`` end with the call.
public final class TransferMonitor: Sendable {
    /// The counts of the current attempt, the last published counts, and the subscribers.
    private struct State {
        var attempt = 0
        /// Identifies one pass over a body. Reports of earlier passes are ignored.
        var pass = 0
        /// The number of the body whose counts are reported. It increases when a call, an attempt or a body starts, and
        /// when a call ends, so that counts of an earlier body are ignored.
        var bodyNumber = 0
        var sent = TransferCount()
        var received = TransferCount()
        var isFinished = false
        /// The time and the counts of the last events.
        var publishedAt: Duration?
        var publishedSent = TransferCount()
        var publishedReceived = TransferCount()
        var subscribers = Broadcast<TransferEvent>()
    }

    private let interval: Duration
    private let time: any TimeSource
    private let state = Locked(State())

    /// Creates a monitor for a call.
    /// - Parameters:
    ///   - interval: The shortest time between two events. The first and the last count of a body, and new attempts,
    ///     are reported at once.
    ///   - time: The clock; the system's if `nil`.
    public init(interval: Duration = .milliseconds(100), time: (any TimeSource)? = nil) {
        self.interval = interval
        self.time = time ?? .system
    }

    deinit {
        state.withLock { $0.subscribers.finish() }.wake()
    }

    /// The number of the current attempt, from 1; 0 before the first.
    public var attempt: Int { state.withLock { $0.attempt } }

    /// The part of the body that has been handed to the network in this attempt.
    public var sent: TransferCount { state.withLock { $0.sent } }

    /// The part of the response body that has been received in this attempt.
    public var received: TransferCount { state.withLock { $0.received } }

    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// The current counts, then all further events until the call ends.
    ///
    /// Each access creates a subscription of its own. A subscriber that does not keep up misses intermediate counts,
    /// but receives every attempt and the newest counts.
    public var events: AsyncStream<TransferEvent> {
        state.withLock { state in
            var first: [TransferEvent] = []
            if state.attempt > 0 {
                first.append(.attempt(state.attempt))
                if state.sent != TransferCount() { first.append(.sent(state.sent)) }
                if state.received != TransferCount() { first.append(.received(state.received)) }
            }
            guard state.isFinished else {
                return state.subscribers.subscribe(first: first) { pending, newest in
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
    /// Starts a call, or another attempt of it.
    /// - Returns: The pass that counts belong to.
    @discardableResult
    package func start(attempt: Int) -> Int {
        begin(attempt) { state in
            state.bodyNumber += 1
            return true
        }
    }

    /// The number of the body whose counts are reported.
    var bodyNumber: Int { state.withLock { $0.bodyNumber } }

    /// Numbers a body before it is handed to the transport.
    /// - Parameter last: The number that the body's attempt has seen last. If there is a newer one, the attempt was
    ///   abandoned and its body is ignored.
    /// - Returns: The number to start the body with.
    func numberBody(after last: Int) -> Int {
        state.withLock { state in
            guard state.bodyNumber == last else { return last }
            state.bodyNumber += 1
            return state.bodyNumber
        }
    }

    /// Starts a body when the transport begins to read it. A transport may read it more than once within an attempt.
    /// - Returns: The pass that counts belong to.
    func startBody(_ number: Int, attempt: Int) -> Int {
        begin(attempt) { $0.bodyNumber == number }
    }

    private func begin(_ attempt: Int, if isWanted: (inout State) -> Bool) -> Int {
        var pass = -1
        publish { state in
            guard isWanted(&state) else { return nil }
            state.pass += 1
            pass = state.pass
            let isPublished = state.attempt == attempt && !state.isFinished
            if isPublished, state.sent == TransferCount(), state.received == TransferCount() { return nil }
            state.attempt = attempt
            state.sent = TransferCount()
            state.received = TransferCount()
            state.isFinished = false
            state.publishedAt = nil
            state.publishedSent = TransferCount()
            state.publishedReceived = TransferCount()
            return .attempt(attempt)
        }
        return pass
    }

    /// Reports how much of the body has been sent.
    package func send(_ count: TransferCount, in pass: Int) {
        publish { state in
            guard pass == state.pass else { return nil }
            let isFirst = state.sent == TransferCount()
            state.sent = count
            return isDue(&state, isUrgent: isFirst || count.isComplete) ? .sent(count) : nil
        }
    }

    /// Reports how much of the response body has been received.
    func receive(_ count: TransferCount, in pass: Int) {
        publish { state in
            guard pass == state.pass else { return nil }
            let isFirst = state.received == TransferCount()
            state.received = count
            return isDue(&state, isUrgent: isFirst || count.isComplete) ? .received(count) : nil
        }
    }

    var pass: Int { state.withLock { $0.pass } }

    /// Ends the call, whether it succeeded or failed.
    package func finish() {
        let wakeups = state.withLock { state in
            var wakeups = Wakeups()
            // The last counts may have been held back for the interval.
            if state.sent != state.publishedSent { wakeups += state.subscribers.send(.sent(state.sent)) }
            if state.received != state.publishedReceived {
                wakeups += state.subscribers.send(.received(state.received))
            }
            wakeups += state.subscribers.finish()
            state.isFinished = true
            state.bodyNumber += 1
            return wakeups
        }
        wakeups.wake()
    }

    /// Performs a call, and passes the counts of the monitor's events to `progress`. All have been passed when this
    /// returns.
    func reporting<Value: Sendable>(
        _ count: @escaping @Sendable (TransferEvent) -> TransferCount?,
        to progress: @escaping @Sendable (TransferCount) -> Void,
        _ call: () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        forgetLastCall()
        let events = events
        let report = Task {
            for await event in events { count(event).map(progress) }
        }
        let result: Result<Value, NetworkError>
        do throws(NetworkError) {
            result = .success(try await call())
        } catch {
            result = .failure(error)
        }
        finish()
        await report.value
        return try result.get()
    }

    /// Forgets the counts of a call that has ended, which are not those of the next call.
    private func forgetLastCall() {
        state.withLock { state in
            guard state.isFinished else { return }
            (state.attempt, state.isFinished) = (0, false)
            (state.sent, state.received) = (TransferCount(), TransferCount())
            (state.publishedSent, state.publishedReceived) = (TransferCount(), TransferCount())
            // Late counts of the former call no longer have the current pass.
            state.pass += 1
        }
    }

    private func publish(_ change: (inout State) -> TransferEvent?) {
        let wakeups = state.withLock { state in
            guard let event = change(&state) else { return Wakeups() }
            switch event {
            case .attempt: break
            case .sent(let count): state.publishedSent = count
            case .received(let count): state.publishedReceived = count
            }
            return state.subscribers.send(event)
        }
        wakeups.wake()
    }

    private func isDue(_ state: inout State, isUrgent: Bool) -> Bool {
        guard state.subscribers.count > 0 else { return false }
        let now = time.uptime
        if !isUrgent, let publishedAt = state.publishedAt, now - publishedAt < interval { return false }
        state.publishedAt = now
        return true
    }
}
