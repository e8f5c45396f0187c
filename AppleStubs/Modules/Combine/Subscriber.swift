// https://developer.apple.com/documentation/combine/subscriber
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error
    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}

// https://developer.apple.com/documentation/combine/subscription
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    func request(_ demand: Subscribers.Demand)
}

// https://developer.apple.com/documentation/combine/customcombineidentifierconvertible
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public protocol CustomCombineIdentifierConvertible {
    var combineIdentifier: CombineIdentifier { get }
}

// https://developer.apple.com/documentation/combine/customcombineidentifierconvertible/combineidentifier-73utu
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension CustomCombineIdentifierConvertible where Self: AnyObject {
    public var combineIdentifier: CombineIdentifier { fatalError() }
}

// https://developer.apple.com/documentation/combine/combineidentifier
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct CombineIdentifier: Hashable {
    public init() { fatalError() }
}

// https://developer.apple.com/documentation/combine/subscribers
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public enum Subscribers {}

// https://developer.apple.com/documentation/combine/subscribers/demand
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Subscribers {
    public struct Demand: Hashable, Comparable, Sendable {
        public static let unlimited = Demand()
        public static let none = Demand()
        public static func max(_ value: Int) -> Demand { fatalError() }
        public var max: Int? { fatalError() }
        public static func < (lhs: Demand, rhs: Demand) -> Bool { fatalError() }
        public static func > (lhs: Demand, rhs: Int) -> Bool { fatalError() }
        public static func + (lhs: Demand, rhs: Demand) -> Demand { fatalError() }
        public static func += (lhs: inout Demand, rhs: Demand) { fatalError() }
        public static func - (lhs: Demand, rhs: Int) -> Demand { fatalError() }
        public static func -= (lhs: inout Demand, rhs: Int) { fatalError() }
    }
}

// https://developer.apple.com/documentation/combine/subscribers/completion
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Subscribers {
    @frozen public enum Completion<Failure: Error>: Sendable {
        case finished
        case failure(Failure)
    }
}

// https://developer.apple.com/documentation/combine/anysubscriber
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public struct AnySubscriber<Input, Failure: Error>: Subscriber {
    public let combineIdentifier: CombineIdentifier
    public init<S: Subscriber>(_ s: S) where Input == S.Input, Failure == S.Failure { fatalError() }
    public init(
        receiveSubscription: ((any Subscription) -> Void)? = nil, receiveValue: ((Input) -> Subscribers.Demand)? = nil,
        receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)? = nil
    ) { fatalError() }
    public func receive(subscription: any Subscription) { fatalError() }
    public func receive(_ value: Input) -> Subscribers.Demand { fatalError() }
    public func receive(completion: Subscribers.Completion<Failure>) { fatalError() }
}
