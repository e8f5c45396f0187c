// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    open var protectionSpace: URLProtectionSpace { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlprotectionspace
open class URLProtectionSpace: NSObject, @unchecked Sendable {
    open var authenticationMethod: String { fatalError() }
    open var host: String { fatalError() }
    open func isProxy() -> Bool { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlcredential
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
public let NSURLAuthenticationMethodClientCertificate: String = ""
public let NSURLAuthenticationMethodDefault: String = ""
public let NSURLAuthenticationMethodHTMLForm: String = ""
public let NSURLAuthenticationMethodHTTPBasic: String = ""
public let NSURLAuthenticationMethodHTTPDigest: String = ""
public let NSURLAuthenticationMethodNTLM: String = ""
public let NSURLAuthenticationMethodNegotiate: String = ""
public let NSURLAuthenticationMethodServerTrust: String = ""
