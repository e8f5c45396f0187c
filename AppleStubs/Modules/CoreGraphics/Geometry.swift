@_exported public import CoreFoundation

// https://developer.apple.com/documentation/corefoundation/cgrect
// Apple declares it in CoreFoundation, and its initializers here.
@available(iOS 2, macOS 10.0, tvOS 9, watchOS 2, visionOS 1, *)
public struct CGRect: Sendable {
    public init(x: Int, y: Int, width: Int, height: Int) { fatalError() }
    public init(x: Double, y: Double, width: Double, height: Double) { fatalError() }
    public init(x: CGFloat, y: CGFloat, width: CGFloat, height: CGFloat) { fatalError() }
}
