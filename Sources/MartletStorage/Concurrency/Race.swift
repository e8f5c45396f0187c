/// Passes the first of several results to one waiting task, and ignores the others.
@usableFromInline
package final class Race<Value: Sendable>: Sendable {
    /// Whether the first result has arrived, and whether a task waits for it.
    @usableFromInline
    enum State {
        /// There is neither a result nor a waiting task.
        case open
        case waiting(CheckedContinuation<Result<Value, any Error>, Never>)
        /// The first result has arrived, and no task has waited for it yet.
        case finished(Result<Value, any Error>)
        /// The waiting task has received the first result.
        case taken
    }

    @usableFromInline let state = Locked(State.open)

    @inlinable
    package init() {}

    /// Reports a result. Only the first one counts.
    /// - Returns: Whether it is the first one.
    @inlinable
    @discardableResult
    package func finish(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock {
            state -> (Bool, CheckedContinuation<Result<Value, any Error>, Never>?) in
            switch state {
            case .open:
                state = .finished(result)
                return (true, nil)
            case .waiting(let continuation):
                state = .taken
                return (true, continuation)
            case .finished, .taken:
                return (false, nil)
            }
        }
        continuation?.resume(returning: result)
        return isFirst
    }

    /// Resumes the continuation with the first result. May be called once.
    @inlinable
    package func wait(_ continuation: CheckedContinuation<Result<Value, any Error>, Never>) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            guard case .finished(let result) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .taken
            return result
        }
        if let result { continuation.resume(returning: result) }
    }
}
