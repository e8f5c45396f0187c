// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// Declarations of AppAuth-iOS 2.1.0 that AppleTests/FormerLibraries uses, as Swift imports them from Objective-C, for
// `make apple-check`. Sources: OIDAuthState.h, OIDAuthorizationRequest.h, OIDAuthorizationResponse.h, OIDError.h,
// OIDResponseTypes.h, OIDScopes.h, OIDServiceConfiguration.h, OIDTokenRequest.h and OIDTokenResponse.h in
// Sources/AppAuthCore; for the names in Swift, Examples/Example-iOS_Swift-SPM/Example/AuthManager.swift.

public import Foundation

public let OIDOAuthTokenErrorDomain = ""
public let OIDResponseTypeCode = ""
public let OIDScopeOpenID = ""

open class OIDServiceConfiguration: NSObject, NSCopying, NSSecureCoding {
    public init(authorizationEndpoint: URL, tokenEndpoint: URL) {}
}

open class OIDAuthorizationRequest: NSObject, NSCopying, NSSecureCoding {
    public init(
        configuration: OIDServiceConfiguration, clientId clientID: String, scopes: [String]?, redirectURL: URL,
        responseType: String, additionalParameters: [String: String]?
    ) {}
}

open class OIDAuthorizationResponse: NSObject, NSCopying, NSSecureCoding {
    open var accessTokenExpirationDate: Date? { nil }
    public init(request: OIDAuthorizationRequest, parameters: [String: any NSObject & NSCopying]) {}
    open func tokenExchangeRequest() -> OIDTokenRequest? { nil }
}

open class OIDTokenRequest: NSObject, NSCopying, NSSecureCoding {
    @available(*, unavailable)
    override public init() { fatalError() }
}

open class OIDTokenResponse: NSObject, NSCopying, NSSecureCoding {
    open var accessTokenExpirationDate: Date? { nil }
    public init(request: OIDTokenRequest, parameters: [String: any NSObject & NSCopying]) {}
}

open class OIDAuthState: NSObject, NSSecureCoding {
    open var lastAuthorizationResponse: OIDAuthorizationResponse { fatalError() }
    open var lastTokenResponse: OIDTokenResponse? { nil }
    public init(authorizationResponse: OIDAuthorizationResponse, tokenResponse: OIDTokenResponse?) {}
    open func update(with tokenResponse: OIDTokenResponse?, error: (any Error)?) {}
    open func update(withAuthorizationError authorizationError: any Error) {}
    open func setNeedsTokenRefresh() {}
    open func tokenRefreshRequest() -> OIDTokenRequest? { nil }
}
