public import Foundation

// https://developer.apple.com/documentation/localauthentication/lacontext
open class LAContext: NSObject {
    public override init() {}
    open var interactionNotAllowed: Bool {
        get { fatalError() }
        set { fatalError() }
    }
    open var localizedReason: String {
        get { fatalError() }
        set { fatalError() }
    }
    open func invalidate() { fatalError() }
}
