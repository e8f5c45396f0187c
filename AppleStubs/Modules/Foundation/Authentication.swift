// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    open var protectionSpace: URLProtectionSpace { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlprotectionspace
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class URLProtectionSpace: NSObject, @unchecked Sendable {
    open var authenticationMethod: String { fatalError() }
    open var host: String { fatalError() }
    open func isProxy() -> Bool { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlcredential
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
open class URLCredential: NSObject, @unchecked Sendable {
    // https://developer.apple.com/documentation/foundation/urlcredential/persistence-swift.enum
    public enum Persistence: UInt, Sendable {
        case none = 0
        case forSession
        case permanent
        case synchronizable
    }
}

// https://developer.apple.com/documentation/foundation/nsurlauthenticationmethoddefault, and so on
@available(iOS 3, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public let NSURLAuthenticationMethodClientCertificate: String = ""
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
public let NSURLAuthenticationMethodDefault: String = ""
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
public let NSURLAuthenticationMethodHTMLForm: String = ""
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
public let NSURLAuthenticationMethodHTTPBasic: String = ""
@available(iOS 2, macOS 10.2, tvOS 9, watchOS 2, visionOS 1, *)
public let NSURLAuthenticationMethodHTTPDigest: String = ""
@available(iOS 2, macOS 10.5, tvOS 9, watchOS 2, visionOS 1, *)
public let NSURLAuthenticationMethodNTLM: String = ""
@available(iOS 2, macOS 10.5, tvOS 9, watchOS 2, visionOS 1, *)
public let NSURLAuthenticationMethodNegotiate: String = ""
@available(iOS 3, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public let NSURLAuthenticationMethodServerTrust: String = ""
