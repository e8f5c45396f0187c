// https://developer.apple.com/documentation/combine/cancellable
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public protocol Cancellable {
    func cancel()
}

// https://developer.apple.com/documentation/combine/anycancellable
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public final class AnyCancellable: Cancellable, Hashable {
    public init(_ cancel: @escaping () -> Void) { fatalError() }
    public init<C: Cancellable>(_ canceller: C) { fatalError() }
    public func cancel() { fatalError() }
    public static func == (lhs: AnyCancellable, rhs: AnyCancellable) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}

// https://developer.apple.com/documentation/combine/anycancellable/store(in:)-3hyxs
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
extension AnyCancellable {
    public func store<C: RangeReplaceableCollection>(in collection: inout C) where C.Element == AnyCancellable {
        fatalError()
    }
    public func store(in set: inout Set<AnyCancellable>) { fatalError() }
}
