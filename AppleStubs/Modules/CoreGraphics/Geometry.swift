@_exported public import CoreFoundation

// https://developer.apple.com/documentation/corefoundation/cgfloat
// Apple's CGFloat is a separate type that Swift converts to and from Double implicitly.
public typealias CGFloat = Double

// https://developer.apple.com/documentation/corefoundation/cgrect
// Apple declares it in CoreFoundation, and its initializers here.
public struct CGRect: Sendable {
    public init(x: Int, y: Int, width: Int, height: Int) { fatalError() }
    public init(x: Double, y: Double, width: Double, height: Double) { fatalError() }
}
