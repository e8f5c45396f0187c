#if os(macOS)
    public import AppKit
    public import Foundation

    // https://developer.apple.com/documentation/authenticationservices/aspresentationanchor
    @available(macOS 10.15, *)
    @available(iOS, unavailable)
    @available(visionOS, unavailable)
    public typealias ASPresentationAnchor = NSWindow
#else
    public import Foundation
    public import UIKit

    // https://developer.apple.com/documentation/authenticationservices/aspresentationanchor
    @available(iOS 12, visionOS 1, *)
    @available(macOS, unavailable)
    public typealias ASPresentationAnchor = UIWindow
#endif

// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationpresentationcontextproviding
@available(iOS 13, macOS 10.15, visionOS 1, *)
@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession
@available(iOS 12, macOS 10.15, visionOS 1, *)
open class ASWebAuthenticationSession: NSObject {
    public init(
        url URL: URL, callbackURLScheme: String?,
        completionHandler: @escaping (URL?, (any Error)?) -> Void
    ) { fatalError() }

    // https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/init(url:callback:completionhandler:)
    @available(iOS 17.4, macOS 14.4, visionOS 1.1, *)
    public init(
        url URL: URL, callback: ASWebAuthenticationSession.Callback,
        completionHandler: @escaping (URL?, (any Error)?) -> Void
    ) { fatalError() }

    // https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/presentationcontextprovider
    @available(iOS 13, macOS 10.15, visionOS 1, *)
    weak open var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?

    // https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/prefersephemeralwebbrowsersession
    @available(iOS 13, macOS 10.15, visionOS 1, *)
    open var prefersEphemeralWebBrowserSession: Bool {
        get { fatalError() }
        set { fatalError() }
    }

    @discardableResult open func start() -> Bool { fatalError() }
    open func cancel() { fatalError() }
}

// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/callback
@available(iOS 17.4, macOS 14.4, visionOS 1.1, *)
extension ASWebAuthenticationSession {
    open class Callback: NSObject {
        open class func customScheme(_ customScheme: String) -> Self { fatalError() }
        open class func https(host: String, path: String) -> Self { fatalError() }
    }
}

// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsessionerror-swift.struct
@available(iOS 12, macOS 10.15, visionOS 1, *)
public struct ASWebAuthenticationSessionError: Error, Sendable {
    // https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsessionerror-swift.struct/code
    public enum Code: Int, Sendable {
        case canceledLogin = 1
        @available(iOS 13, macOS 10.15, visionOS 1, *)
        case presentationContextNotProvided = 2
        @available(iOS 13, macOS 10.15, visionOS 1, *)
        case presentationContextInvalid = 3
    }
    public var code: Code { fatalError() }
}
