internal import MartletLibc

/// The system's lock, at a stable address. Its owner destroys it.
///
/// `@unchecked Sendable` is right because any thread may use the lock, and the pointer never changes.
@usableFromInline
struct PlatformLock: @unchecked Sendable {
    #if canImport(Darwin)
        private let address = UnsafeMutablePointer<os_unfair_lock>.allocate(capacity: 1)
    #else
        private let address = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    #endif

    @usableFromInline
    init() {
        #if canImport(Darwin)
            address.initialize(to: os_unfair_lock())
        #else
            pthread_mutex_init(address, nil)
        #endif
    }

    @usableFromInline
    func destroy() {
        #if canImport(Darwin)
            address.deinitialize(count: 1)
        #else
            pthread_mutex_destroy(address)
        #endif
        address.deallocate()
    }

    @usableFromInline
    func lock() {
        #if canImport(Darwin)
            os_unfair_lock_lock(address)
        #else
            pthread_mutex_lock(address)
        #endif
        #if DEBUG
            BlockingCalls.heldLocks.value += 1
        #endif
    }

    @usableFromInline
    func unlock() {
        #if DEBUG
            BlockingCalls.heldLocks.value -= 1
        #endif
        #if canImport(Darwin)
            os_unfair_lock_unlock(address)
        #else
            pthread_mutex_unlock(address)
        #endif
    }
}
