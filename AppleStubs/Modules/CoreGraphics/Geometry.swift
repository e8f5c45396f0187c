@_exported public import CoreFoundation

// https://developer.apple.com/documentation/corefoundation/cgfloat
// Apple's is a type of its own, which Swift converts to and from Double by itself.
public typealias CGFloat = Double

// https://developer.apple.com/documentation/corefoundation/cgrect
// Apple has it in CoreFoundation, with its initializers here.
public struct CGRect: Sendable {
    public init(x: Int, y: Int, width: Int, height: Int) { fatalError() }
    public init(x: Double, y: Double, width: Double, height: Double) { fatalError() }
}
