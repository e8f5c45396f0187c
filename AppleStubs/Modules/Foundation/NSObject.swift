public import ObjectiveC

// https://developer.apple.com/documentation/objectivec/nsobject-swift.class
// Apple declares it in ObjectiveC. The compiler for Linux knows it under this module: a `Sendable` class may inherit
// from no other class.
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
open class NSObject: NSObjectProtocol, Hashable {
    public init() {}
    open func copy() -> Any { fatalError() }
    public static func == (left: NSObject, right: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/nscoding
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public protocol NSCoding {}

// https://developer.apple.com/documentation/foundation/nssecurecoding
// Swift Testing's part for Foundation, which the toolchain compiles from its interface, names it.
@available(iOS 6, macOS 10.8, tvOS 9, watchOS 2, visionOS 1, *)
public protocol NSSecureCoding: NSCoding {}
