internal import Dispatch

/// A value behind a serial queue: the small lock of this module, which has no need for speed.
///
/// `@unchecked Sendable` is right because `value` is private and only ever touched on `queue`.
final class Guarded<Value>: @unchecked Sendable {
    private var value: Value
    private let queue = DispatchQueue(label: "martlet.testing")

    init(_ value: sending Value) {
        self.value = value
    }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        queue.sync { body(&value) }
    }
}
