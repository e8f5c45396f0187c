/// The power supply of a simulated process. When it is cut, the process is dead.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class ProcessLife: @unchecked Sendable {
    private(set) var isOn = true
    private var touchesLeft: Int?
    private var dependents: [@Sendable () -> Void] = []

    /// - Parameter touches: The access to disk or network, counted from 1, at which the process dies; `nil` for never.
    init(touches: Int?) {
        touchesLeft = touches
    }

    /// Counts an access to disk or network. The process can die here only.
    func touch() {
        guard isOn, let left = touchesLeft else { return }
        touchesLeft = left - 1
        if left == 1 { cut() }
    }

    /// Registers an action for the death of the process. It runs at once if the process is dead.
    func whenOff(_ action: @escaping @Sendable () -> Void) {
        if isOn { dependents.append(action) } else { action() }
    }

    /// Prevents the process from dying later.
    func secure() { touchesLeft = nil }

    private func cut() {
        isOn = false
        for dependent in dependents { dependent() }
        dependents = []
    }

    /// Releases all registered actions.
    func forgetDependents() { dependents = [] }
}

/// Thrown by operations of a dead process.
struct PowerCut: Error {}

/// Passes one result to one waiting task. Later results are dropped.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class OneShotResult<Value: Sendable>: @unchecked Sendable {
    private var result: Result<Value, any Error>?
    private var waiting: CheckedContinuation<Result<Value, any Error>, Never>?

    func finish(_ result: Result<Value, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        waiting?.resume(returning: result)
        waiting = nil
    }

    func wait(_ continuation: CheckedContinuation<Result<Value, any Error>, Never>) {
        if let result { continuation.resume(returning: result) } else { waiting = continuation }
    }
}
