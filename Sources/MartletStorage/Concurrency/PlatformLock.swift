internal import MartletLibc

#if canImport(Darwin)
    /// The system's lock, at a stable address.
    enum PlatformLock {
        typealias Lock = UnsafeMutablePointer<os_unfair_lock>

        static func make() -> Lock {
            let lock = Lock.allocate(capacity: 1)
            lock.initialize(to: os_unfair_lock())
            return lock
        }

        static func destroy(_ lock: Lock) {
            lock.deinitialize(count: 1)
            lock.deallocate()
        }

        static func lock(_ lock: Lock) { os_unfair_lock_lock(lock) }
        static func unlock(_ lock: Lock) { os_unfair_lock_unlock(lock) }
    }
#else
    /// The system's lock, at a stable address.
    enum PlatformLock {
        typealias Lock = UnsafeMutablePointer<pthread_mutex_t>

        static func make() -> Lock {
            let lock = Lock.allocate(capacity: 1)
            pthread_mutex_init(lock, nil)
            return lock
        }

        static func destroy(_ lock: Lock) {
            pthread_mutex_destroy(lock)
            lock.deallocate()
        }

        static func lock(_ lock: Lock) { pthread_mutex_lock(lock) }
        static func unlock(_ lock: Lock) { pthread_mutex_unlock(lock) }
    }
#endif
