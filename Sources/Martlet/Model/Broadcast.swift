/// Hands each value to everybody who listens, in the order in which values are told.
///
/// A value is told with its owner's lock held, so that none overtakes another; whoever waits for one is woken when that lock
/// has been given back. To wake a task the system takes a lock of that task's, which whoever cancels the task holds while
/// the task's children are told of it, and these may ask for the owner's lock. For the same reason the end of a stream takes
/// no lock but those in here, which nobody holds while waking.
struct Broadcast<Value: Sendable> {
    /// Puts a value behind those that a listener has not heard yet, and may drop some of them for it.
    typealias Keep = @Sendable (_ pending: inout [Value], _ newest: Value) -> Void

    private var listeners: [Int: Listener<Value>] = [:]
    private var lastID = 0
    /// Who does not listen any more, and has not been taken off the list yet.
    private let gone = Locked<[Int]>([])

    /// How many listen.
    var count: Int {
        mutating get {
            forget()
            return listeners.count
        }
    }

    /// A listener that has old values dropped when it does not keep up.
    /// - Parameters:
    ///   - first: What it hears first.
    ///   - keep: What becomes of values that it has not heard when another comes.
    mutating func add(first: [Value] = [], keep: @escaping Keep) -> AsyncStream<Value> {
        forget()
        lastID += 1
        let listener = Listener(first, keep)
        listeners[lastID] = listener
        let ear = Ear(listener) { [gone, id = lastID] in gone.withLock { $0.append(id) } }
        return AsyncStream {
            await ear.listener.next()
        } onCancel: {
            listener.finish()?.wake()
        }
    }

    /// A listener that hears the newest values when it does not keep up.
    /// - Parameters:
    ///   - first: What it hears first.
    ///   - count: How many values wait for it at most; at least 1.
    mutating func add(first: [Value] = [], keeping count: Int) -> AsyncStream<Value> {
        add(first: first) { pending, newest in
            if pending.count >= count { pending.removeFirst() }
            pending.append(newest)
        }
    }

    /// Tells everybody a value.
    /// - Returns: Who is to be woken for it, once the owner's lock has been given back.
    mutating func tell(_ value: Value) -> Wakeups {
        forget()
        return Wakeups(listeners.values.compactMap { $0.tell(value) })
    }

    /// Tells everybody that nothing more will come; what has been told is still heard.
    /// - Returns: Who is to be woken for it, once the owner's lock has been given back.
    mutating func finish() -> Wakeups {
        defer { listeners = [:] }
        return Wakeups(listeners.values.compactMap { $0.finish() })
    }

    private mutating func forget() {
        let numbers = gone.withLock { gone in
            defer { gone = [] }
            return gone
        }
        for number in numbers { listeners[number] = nil }
    }

    /// What a stream holds of its listener: when it is dropped, the listener is taken off the list.
    private final class Ear: Sendable {
        let listener: Listener<Value>
        private let end: @Sendable () -> Void

        init(_ listener: Listener<Value>, _ end: @escaping @Sendable () -> Void) {
            self.listener = listener
            self.end = end
        }

        deinit { end() }
    }
}

/// Tasks that have something to hear, and are to go on when no lock is held.
struct Wakeups: Sendable {
    private var waiting: [Wakeup] = []

    init(_ waiting: [Wakeup] = []) {
        self.waiting = waiting
    }

    static func += (all: inout Wakeups, more: Wakeups) {
        all.waiting += more.waiting
    }

    func wake() {
        for each in waiting { each.wake() }
    }
}

/// One task that has something to hear.
struct Wakeup: Sendable {
    let wake: @Sendable () -> Void
}

/// Holds what one listener has not heard yet.
private final class Listener<Value: Sendable>: Sendable {
    private struct State {
        var pending: [Value]
        var isFinished = false
        /// One for each task that shares the stream, in the order in which they came.
        var waiting: [CheckedContinuation<Value?, Never>] = []
    }

    private let state: Locked<State>
    private let keep: Broadcast<Value>.Keep

    init(_ first: [Value], _ keep: @escaping Broadcast<Value>.Keep) {
        state = Locked(State(pending: first))
        self.keep = keep
    }

    /// - Returns: Whoever waits for it. Nothing is told to that task twice, so that it may be woken later, in any order.
    func tell(_ value: Value) -> Wakeup? {
        state.withLock { state in
            guard !state.isFinished else { return nil }
            guard !state.waiting.isEmpty else {
                keep(&state.pending, value)
                return nil
            }
            let first = state.waiting.removeFirst()
            return Wakeup { first.resume(returning: value) }
        }
    }

    /// Nothing more will be told; what is pending still is.
    /// - Returns: Whoever waits for something.
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
