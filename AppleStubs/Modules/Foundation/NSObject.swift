public import ObjectiveC

// https://developer.apple.com/documentation/objectivec/nsobject-swift.class
// Apple has it in ObjectiveC. On Linux the compiler knows it by this module's name: other classes must not be inherited
// by a `Sendable` one.
open class NSObject: NSObjectProtocol, Hashable {
    public init() {}
    open func copy() -> Any { fatalError() }
    public static func == (left: NSObject, right: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}
