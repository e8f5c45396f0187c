public import Combine

// https://developer.apple.com/documentation/dispatch/dispatchqueue
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension DispatchQueue {
    public class var main: DispatchQueue { fatalError() }
}

// https://developer.apple.com/documentation/dispatch/dispatchqueue/schedulertimetype
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension DispatchQueue {
    public struct SchedulerTimeType: Strideable {
        public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric {
            public typealias Magnitude = Int
            public init(integerLiteral value: Int) { fatalError() }
            public init?<T: BinaryInteger>(exactly source: T) { fatalError() }
            public var magnitude: Int { fatalError() }
            public static func < (lhs: Stride, rhs: Stride) -> Bool { fatalError() }
            public static func + (lhs: Stride, rhs: Stride) -> Stride { fatalError() }
            public static func - (lhs: Stride, rhs: Stride) -> Stride { fatalError() }
            public static func * (lhs: Stride, rhs: Stride) -> Stride { fatalError() }
            public static func *= (lhs: inout Stride, rhs: Stride) { fatalError() }
            public static func seconds(_ s: Double) -> Stride { fatalError() }
            public static func seconds(_ s: Int) -> Stride { fatalError() }
            public static func milliseconds(_ ms: Int) -> Stride { fatalError() }
            public static func microseconds(_ us: Int) -> Stride { fatalError() }
            public static func nanoseconds(_ ns: Int) -> Stride { fatalError() }
        }

        public func distance(to other: SchedulerTimeType) -> Stride { fatalError() }
        public func advanced(by n: Stride) -> SchedulerTimeType { fatalError() }
    }
}

// https://developer.apple.com/documentation/dispatch/dispatchqueue/scheduleroptions
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension DispatchQueue {
    public struct SchedulerOptions {}
}

// https://developer.apple.com/documentation/combine/scheduler
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension DispatchQueue: Scheduler {
    public var now: SchedulerTimeType { fatalError() }
    public var minimumTolerance: SchedulerTimeType.Stride { fatalError() }
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) { fatalError() }
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) { fatalError() }
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable { fatalError() }
}
