/// Hands each value to everybody who listens.
///
/// It is used with its owner's lock held, and a value wakes whoever waits for it: for that the system takes a lock of the
/// waiting task, which whoever cancels the task holds while the stream is told of its end. So the end of a stream takes no
/// lock but that of a list, which nobody holds for longer than it takes to note a number.
struct Broadcast<Value: Sendable> {
    private var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
    private var lastID = 0
    /// Who does not listen any more, and has not been taken off the list yet.
    private let gone = Locked<[Int]>([])

    /// How many listen.
    var count: Int { listeners.count - gone.withLock { $0.count } }

    /// A listener that forgets old values when it does not keep up, and always has the newest.
    mutating func add(first value: Value?, buffering count: Int) -> AsyncStream<Value> {
        forget()
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(count))
        lastID += 1
        listeners[lastID] = continuation
        continuation.onTermination = { [gone, id = lastID] _ in gone.withLock { $0.append(id) } }
        if let value { continuation.yield(value) }
        return stream
    }

    /// Tells everybody that nothing more will come.
    mutating func finish() {
        forget()
        for listener in listeners.values { listener.finish() }
    }

    mutating func send(_ value: Value) {
        forget()
        for listener in listeners.values { listener.yield(value) }
    }

    private mutating func forget() {
        let numbers = gone.withLock { gone in
            defer { gone = [] }
            return gone
        }
        for number in numbers { listeners[number] = nil }
    }
}
