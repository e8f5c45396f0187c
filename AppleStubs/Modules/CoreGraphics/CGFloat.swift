// https://developer.apple.com/documentation/corefoundation/cgfloat
// The compiler converts values of this type to and from Double by itself, but not collections or functions of it. Apple
// declares it in CoreFoundation; the compiler for Linux looks for it in this module.
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public struct CGFloat: Hashable, Sendable {
    public init(_ value: Double) { fatalError() }
    public init(_ value: Int) { fatalError() }
}

// https://developer.apple.com/documentation/swift/double/init(_:)-6u8r
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
extension Double {
    public init(_ other: CGFloat) { fatalError() }
}

// https://developer.apple.com/documentation/corefoundation/cgfloat
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
extension CGFloat: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, Comparable, SignedNumeric, Strideable {
    public init(floatLiteral value: Double) { fatalError() }
    public init(integerLiteral value: Int) { fatalError() }
    public init?<Source: BinaryInteger>(exactly source: Source) { fatalError() }
    public static var infinity: CGFloat { fatalError() }
    public var magnitude: CGFloat { fatalError() }
    public func distance(to other: CGFloat) -> CGFloat { fatalError() }
    public func advanced(by amount: CGFloat) -> CGFloat { fatalError() }
    public static func < (lhs: CGFloat, rhs: CGFloat) -> Bool { fatalError() }
    public static func + (lhs: CGFloat, rhs: CGFloat) -> CGFloat { fatalError() }
    public static func - (lhs: CGFloat, rhs: CGFloat) -> CGFloat { fatalError() }
    public static func * (lhs: CGFloat, rhs: CGFloat) -> CGFloat { fatalError() }
    public static func / (lhs: CGFloat, rhs: CGFloat) -> CGFloat { fatalError() }
    public static func *= (lhs: inout CGFloat, rhs: CGFloat) { fatalError() }
}
