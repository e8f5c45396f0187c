public import Foundation
public import FoundationEssentials

// https://developer.apple.com/documentation/localauthentication/lapolicy
@available(iOS 8, macOS 10.10, watchOS 3, visionOS 1, *)
public enum LAPolicy: Int {
    @available(watchOS, unavailable)
    case deviceOwnerAuthenticationWithBiometrics = 1
    case deviceOwnerAuthentication = 2
}

// https://developer.apple.com/documentation/localauthentication/laerror-swift.struct
@available(iOS 8, macOS 10.10, watchOS 3, visionOS 1, *)
public struct LAError: Error {
    public var code: LAError.Code { fatalError() }

    // https://developer.apple.com/documentation/localauthentication/laerror-swift.struct/code
    public enum Code: Int, Sendable {
        case userCancel = -2
        case systemCancel = -4
        case appCancel = -9
        case notInteractive = -1004
    }
}

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

    // https://developer.apple.com/documentation/localauthentication/lacontext/canevaluatepolicy(_:error:)
    // Apple's pointer is an `NSErrorPointer`, which needs Objective-C.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<AnyObject?>?) -> Bool { fatalError() }

    // https://developer.apple.com/documentation/localauthentication/lacontext/evaluatepolicy(_:localizedreason:reply:)
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) { fatalError() }

    // https://developer.apple.com/documentation/localauthentication/lacontext/evaluatedpolicydomainstate
    @available(iOS 9, macOS 10.11, visionOS 1, *)
    @available(watchOS, unavailable)
    open var evaluatedPolicyDomainState: Data? { fatalError() }
}
