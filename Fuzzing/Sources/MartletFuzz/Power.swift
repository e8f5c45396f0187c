/// What keeps a simulated process alive.
///
/// `@unchecked Sendable` is right because a schedule runs on one thread.
final class Power: @unchecked Sendable {
    private(set) var isOn = true
    private var touchesLeft: Int?
    private var dependents: [@Sendable () -> Void] = []

    /// - Parameter touches: The process dies when it touches disk or network for this time; never if `nil`.
    init(touches: Int?) {
        touchesLeft = touches
    }

    /// The process touches the world outside, which is where it can die.
    func touch() {
        guard isOn, let left = touchesLeft else { return }
        touchesLeft = left - 1
        if left == 1 { cut() }
    }

    /// Is done when the process dies, or at once if it has.
    func whenOff(_ action: @escaping @Sendable () -> Void) {
        if isOn { dependents.append(action) } else { action() }
    }

    /// From now on it does not die any more.
    func secure() { touchesLeft = nil }

    private func cut() {
        isOn = false
        for dependent in dependents { dependent() }
        dependents = []
    }

    /// Lets go of everything.
    func forgetDependents() { dependents = [] }
}

/// What a dead process gets from whatever it still tries.
struct PowerCut: Error {}

/// One result for one who waits; whatever comes later is dropped.
///
/// `@unchecked Sendable` is right because a schedule runs on one thread.
final class Exchange<Value: Sendable>: @unchecked Sendable {
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
