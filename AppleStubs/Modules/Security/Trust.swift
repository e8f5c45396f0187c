public import CoreFoundation
public import Darwin
public import Dispatch

// https://developer.apple.com/documentation/security/sectrust
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public final class SecTrust {}

// https://developer.apple.com/documentation/security/seccertificate
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public final class SecCertificate {}

// https://developer.apple.com/documentation/security/sectrustsetanchorcertificates(_:_:)
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/sectrustsetanchorcertificatesonly(_:_:)
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    fatalError()
}

// https://developer.apple.com/documentation/security/sectrustevaluateasyncwitherror(_:_:_:)
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: dispatch_queue_t, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/sectrustwitherrorcallback
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

// https://developer.apple.com/documentation/security/sectrustcopycertificatechain(_:)
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, visionOS 1, *)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { fatalError() }

// https://developer.apple.com/documentation/security/seccertificatecreatewithdata(_:_:)
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { fatalError() }

// https://developer.apple.com/documentation/security/seccertificatecopydata(_:)
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }

// https://developer.apple.com/documentation/security/tls_protocol_version_t
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public enum tls_protocol_version_t: UInt16, Sendable {
    case TLSv10 = 769
    case TLSv11 = 770
    case TLSv12 = 771
    case TLSv13 = 772
    case DTLSv10 = 65279
    case DTLSv12 = 65277
}
