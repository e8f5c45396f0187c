/// A value that is accessible only while its lock is held.
///
/// `Synchronization.Mutex` would serve, but it needs iOS 18, and ThreadSanitizer reports false races for it on Linux.
///
/// `@unchecked Sendable` is right because `value` is accessed only in `withLock`, which holds the lock for
/// the whole access. The lock is allocated once and never moves.
package final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    private let lock: PlatformLock.Lock

    package init(_ value: sending Value) {
        self.value = value
        lock = PlatformLock.make()
    }

    deinit {
        PlatformLock.destroy(lock)
    }

    /// Runs `body` while the lock is held. `body` must not block.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        PlatformLock.lock(lock)
        defer { PlatformLock.unlock(lock) }
        #if DEBUG
            BlockingCalls.heldLocks.value += 1
            defer { BlockingCalls.heldLocks.value -= 1 }
        #endif
        return try body(&value)
    }
}

extension Locked: CustomReflectable {
    /// Shows nothing: `dump` would read the value without the lock, and print the secrets in it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
