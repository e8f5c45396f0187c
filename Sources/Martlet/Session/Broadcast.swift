/// Hands each value to everybody who listens.
struct Broadcast<Value: Sendable> {
    private var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
    private var lastID = 0

    /// How many listen.
    var count: Int { listeners.count }

    /// A listener that forgets old values when it does not keep up, and always has the newest.
    mutating func add(
        first value: Value?, buffering count: Int, onTermination: @escaping @Sendable (Int) -> Void
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(count))
        lastID += 1
        let id = lastID
        listeners[id] = continuation
        continuation.onTermination = { _ in onTermination(id) }
        if let value { continuation.yield(value) }
        return stream
    }

    mutating func remove(_ id: Int) {
        listeners[id] = nil
    }

    /// Tells everybody that nothing more will come.
    func finish() {
        for listener in listeners.values { listener.finish() }
    }

    func send(_ value: Value) {
        for listener in listeners.values { listener.yield(value) }
    }
}
