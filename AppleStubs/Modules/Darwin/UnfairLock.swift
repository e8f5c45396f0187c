// https://developer.apple.com/documentation/os/os_unfair_lock
public struct os_unfair_lock: Sendable {
    public init() {}
}

// https://developer.apple.com/documentation/os/os_unfair_lock_t
public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock>

// https://developer.apple.com/documentation/os/os_unfair_lock_lock
@available(*, noasync) public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) { fatalError() }

// https://developer.apple.com/documentation/os/os_unfair_lock_unlock
@available(*, noasync) public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) { fatalError() }
