/// A value that is accessible only while its lock is held.
///
/// `Synchronization.Mutex` would serve, but it needs iOS 18, and ThreadSanitizer reports false races for it on Linux.
///
/// A closure belongs in a structure here: without optimization, each access to a value that is a closure, or a tuple
/// with one, wraps the closure once more, until a call of it overflows the stack.
///
/// `@unchecked Sendable` is right because `value` is accessed only in `withLock`, which holds the lock for
/// the whole access. The lock is allocated once and never moves.
///
/// `@usableFromInline` and `@inlinable` let the compiler specialize the class for its uses in other modules. Without
/// them, each access passes its closure and its result indirectly and looks types up at run time.
@usableFromInline
package final class Locked<Value>: @unchecked Sendable {
    @usableFromInline var value: Value
    @usableFromInline let lock = PlatformLock()

    @inlinable
    package init(_ value: sending Value) {
        self.value = value
    }

    deinit {
        lock.destroy()
    }

    /// Runs `body` while the lock is held. `body` must not block.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

extension Locked: CustomReflectable {
    /// Shows nothing: `dump` would read the value without the lock, and print the secrets in it.
    @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}
