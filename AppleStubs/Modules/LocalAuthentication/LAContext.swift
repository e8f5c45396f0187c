public import Foundation

// https://developer.apple.com/documentation/localauthentication/lacontext
@available(iOS 8, macOS 10.10, watchOS 3, visionOS 1, *)
open class LAContext: NSObject {
    public override init() {}
    @available(iOS 11, macOS 10.13, watchOS 9, visionOS 1, *)
    open var interactionNotAllowed: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    @available(iOS 11, macOS 10.13, visionOS 1, *)
    @available(watchOS, unavailable)
    open var localizedReason: String {
        get { fatalError() }
        set { fatalError() }
    }
    open func invalidate() { fatalError() }
}
