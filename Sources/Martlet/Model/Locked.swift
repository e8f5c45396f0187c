#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// A value that is only reachable while its lock is held.
///
/// `Synchronization.Mutex` would do, but it needs iOS 18 and ThreadSanitizer reports false races for it on Linux.
///
/// `@unchecked Sendable` is right because `value` is private and every path to it goes through `withLock`, which holds
/// the lock for the whole access; the lock itself is allocated once and never moves.
final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    #if canImport(Darwin)
        private let lock: UnsafeMutablePointer<os_unfair_lock>
    #else
        private let lock: UnsafeMutablePointer<pthread_mutex_t>
    #endif

    init(_ value: sending Value) {
        self.value = value
        self.lock = .allocate(capacity: 1)
        #if canImport(Darwin)
            lock.initialize(to: os_unfair_lock())
        #else
            pthread_mutex_init(lock, nil)
        #endif
    }

    deinit {
        #if canImport(Darwin)
            lock.deinitialize(count: 1)
        #else
            pthread_mutex_destroy(lock)
        #endif
        lock.deallocate()
    }

    /// Runs `body` with the lock held. `body` must not wait for anything.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if canImport(Darwin)
            os_unfair_lock_lock(lock)
            defer { os_unfair_lock_unlock(lock) }
        #else
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
        #endif
        return try body(&value)
    }
}
