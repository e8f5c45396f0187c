internal import Martlet

/// A value behind the library's small lock.
final class Guarded<Value>: Sendable {
    private let locked: Locked<Value>

    init(_ value: sending Value) {
        locked = Locked(value)
    }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        locked.withLock { value in body(&value) }
    }
}
