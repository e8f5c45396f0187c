// https://developer.apple.com/documentation/dispatch/dispatchobject
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
open class DispatchObject {
    init() {}
}

// https://developer.apple.com/documentation/dispatch/dispatchqueue
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
open class DispatchQueue: DispatchObject, @unchecked Sendable {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let concurrent = Attributes(rawValue: 1)
    }

    public enum AutoreleaseFrequency: Sendable {
        case inherit
        case workItem
        case never
    }

    public convenience init(
        label: String, qos: DispatchQoS = .unspecified, attributes: DispatchQueue.Attributes = [],
        autoreleaseFrequency: DispatchQueue.AutoreleaseFrequency = .inherit, target: DispatchQueue? = nil
    ) { fatalError() }

    @preconcurrency
    public func async(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable () -> Void
    ) { fatalError() }

    public func sync(execute block: () -> Void) { fatalError() }
    public func sync<T>(execute work: () throws -> T) rethrows -> T { fatalError() }
}

// https://developer.apple.com/documentation/dispatch/dispatch_queue_t
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public typealias dispatch_queue_t = DispatchQueue

// https://developer.apple.com/documentation/dispatch/dispatchgroup
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
open class DispatchGroup: DispatchObject, @unchecked Sendable {}

// https://developer.apple.com/documentation/dispatch/dispatchqos
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public struct DispatchQoS: Equatable, Sendable {
    public static let unspecified = DispatchQoS()
    public static let userInitiated = DispatchQoS()
}

// https://developer.apple.com/documentation/dispatch/dispatchworkitemflags
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public struct DispatchWorkItemFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}

// https://developer.apple.com/documentation/dispatch/dispatchsemaphore
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
open class DispatchSemaphore: DispatchObject, @unchecked Sendable {
    public init(value: Int) { fatalError() }
    @discardableResult public func signal() -> Int { fatalError() }
    @available(*, noasync) public func wait() { fatalError() }
}
