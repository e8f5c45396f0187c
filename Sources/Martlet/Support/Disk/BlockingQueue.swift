internal import Dispatch

/// Runs blocking work on a thread outside the cooperative pool, one call after another.
struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs the closure on the queue. The caller waits without blocking a thread.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // A Result, because continuations erase typed throws.
        let result = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result { () throws(Failure) -> Value in try work() })
            }
        }
        return try result.get()
    }
}
