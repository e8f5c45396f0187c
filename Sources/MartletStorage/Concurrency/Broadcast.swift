/// Sends each value to every subscriber, in order.
///
/// The owner sends while it holds its own lock, so that no value overtakes another, and wakes the waiting tasks after
/// it has released that lock. Waking under the lock could deadlock: resuming a task takes the task's own lock, and a
/// cancellation holds that lock while it runs handlers, which may wait for the owner's lock. For the same reason, the
/// end of a subscription takes only the locks in this file, which are never held while waking.
package struct Broadcast<Value: Sendable> {
    /// Adds a value to those that a subscriber has not received yet, and may drop some of them.
    package typealias Buffering = @Sendable (_ pending: inout [Value], _ newest: Value) -> Void

    private var subscribers: [Int: Subscriber<Value>] = [:]
    private var lastID = 0
    /// The subscriptions that have ended but are still in `subscribers`.
    private let ended = Locked<[Int]>([])

    package init() {}

    /// The number of subscribers.
    package var count: Int {
        mutating get {
            removeEnded()
            return subscribers.count
        }
    }

    /// Adds a subscriber with a buffer of its own.
    /// - Parameters:
    ///   - first: The values that the subscriber receives first.
    ///   - buffering: Buffers a value for a subscriber that has not received the previous ones yet.
    package mutating func subscribe(first: [Value] = [], buffering: @escaping Buffering) -> AsyncStream<Value> {
        removeEnded()
        lastID += 1
        let subscriber = Subscriber(first, buffering)
        subscribers[lastID] = subscriber
        let subscription = Subscription(subscriber) { [ended, id = lastID] in ended.withLock { $0.append(id) } }
        return AsyncStream {
            await subscription.subscriber.next()
        } onCancel: {
            subscriber.finish()?.wake()
        }
    }

    /// Adds a subscriber that receives the newest values if it does not keep up.
    /// - Parameters:
    ///   - first: The values that the subscriber receives first.
    ///   - count: The maximum number of buffered values; at least 1.
    package mutating func subscribe(first: [Value] = [], keeping count: Int) -> AsyncStream<Value> {
        subscribe(first: first) { pending, newest in
            if pending.count >= count { pending.removeFirst() }
            pending.append(newest)
        }
    }

    /// Sends a value to all subscribers.
    /// - Returns: The tasks to wake after the owner's lock has been released.
    package mutating func send(_ value: Value) -> Wakeups {
        removeEnded()
        return Wakeups(subscribers.values.compactMap { $0.send(value) })
    }

    /// Ends all subscriptions. Subscribers still receive the buffered values.
    /// - Returns: The tasks to wake after the owner's lock has been released.
    package mutating func finish() -> Wakeups {
        defer { subscribers = [:] }
        return Wakeups(subscribers.values.compactMap { $0.finish() })
    }

    private mutating func removeEnded() {
        let ids = ended.withLock { ended in
            defer { ended = [] }
            return ended
        }
        for id in ids { subscribers[id] = nil }
    }

    /// Held by a subscriber's stream; its release ends the subscription.
    private final class Subscription: Sendable {
        let subscriber: Subscriber<Value>
        private let end: @Sendable () -> Void

        init(_ subscriber: Subscriber<Value>, _ end: @escaping @Sendable () -> Void) {
            self.subscriber = subscriber
            self.end = end
        }

        deinit { end() }
    }
}

/// Tasks to wake when no lock is held.
package struct Wakeups: Sendable {
    private var waiting: [Wakeup] = []

    package init(_ waiting: [Wakeup] = []) {
        self.waiting = waiting
    }

    package static func += (all: inout Wakeups, more: Wakeups) {
        all.waiting += more.waiting
    }

    package func wake() {
        for each in waiting { each.wake() }
    }
}

/// Resumes the waiting tasks of one subscriber.
package struct Wakeup: Sendable {
    package let wake: @Sendable () -> Void
}

/// Buffers the values that one subscriber has not received yet.
private final class Subscriber<Value: Sendable>: Sendable {
    /// The buffer of the subscription, and the tasks that wait for a value.
    private struct State {
        var pending: [Value]
        var isFinished = false
        /// The tasks that share the stream and wait for a value, in the order of their arrival.
        var waiting: [CheckedContinuation<Value?, Never>] = []
    }

    private let state: Locked<State>
    private let buffering: Broadcast<Value>.Buffering

    init(_ first: [Value], _ buffering: @escaping Broadcast<Value>.Buffering) {
        state = Locked(State(pending: first))
        self.buffering = buffering
    }

    /// - Returns: The task that waited for the value. It receives no other value, so wakeups may run in any order.
    func send(_ value: Value) -> Wakeup? {
        state.withLock { state in
            guard !state.isFinished else { return nil }
            guard !state.waiting.isEmpty else {
                buffering(&state.pending, value)
                return nil
            }
            let first = state.waiting.removeFirst()
            return Wakeup { first.resume(returning: value) }
        }
    }

    /// Ends the subscription. The subscriber still receives the buffered values.
    func finish() -> Wakeup? {
        state.withLock { state in
            state.isFinished = true
            guard !state.waiting.isEmpty else { return nil }
            let all = state.waiting
            state.waiting = []
            return Wakeup { for each in all { each.resume(returning: nil) } }
        }
    }

    /// The next value, or `nil` at the end.
    func next() async -> Value? {
        await withCheckedContinuation { continuation in
            let wakeup = state.withLock { state -> Wakeup? in
                guard state.pending.isEmpty else {
                    let value = state.pending.removeFirst()
                    return Wakeup { continuation.resume(returning: value) }
                }
                guard !state.isFinished else { return Wakeup { continuation.resume(returning: nil) } }
                state.waiting.append(continuation)
                return nil
            }
            wakeup?.wake()
        }
    }
}
