// https://developer.apple.com/documentation/os/os_unfair_lock
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
public struct os_unfair_lock: Sendable {
    public init() {}
}

// https://developer.apple.com/documentation/os/os_unfair_lock_t
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock>

// https://developer.apple.com/documentation/os/os_unfair_lock_lock
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
@available(*, noasync) public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) { fatalError() }

// https://developer.apple.com/documentation/os/os_unfair_lock_unlock
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
@available(*, noasync) public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) { fatalError() }
