// https://developer.apple.com/documentation/combine/subject
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public protocol Subject<Output, Failure>: AnyObject, Publisher {
    func send(_ value: Output)
    func send(completion: Subscribers.Completion<Failure>)
    func send(subscription: any Subscription)
}

// https://developer.apple.com/documentation/combine/subject/send()
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension Subject where Output == Void {
    public func send() { fatalError() }
}

// https://developer.apple.com/documentation/combine/passthroughsubject
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public final class PassthroughSubject<Output, Failure: Error>: Subject {
    public init() { fatalError() }
    public func send(_ input: Output) { fatalError() }
    public func send(completion: Subscribers.Completion<Failure>) { fatalError() }
    public func send(subscription: any Subscription) { fatalError() }
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure { fatalError() }
}

// https://developer.apple.com/documentation/combine/currentvaluesubject
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
    public init(_ value: Output) { fatalError() }
    public var value: Output {
        get { fatalError() }
        set { fatalError() }
    }
    public func send(_ input: Output) { fatalError() }
    public func send(completion: Subscribers.Completion<Failure>) { fatalError() }
    public func send(subscription: any Subscription) { fatalError() }
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure { fatalError() }
}
