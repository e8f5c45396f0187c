public import CoreFoundation
public import Darwin
public import Dispatch

// https://developer.apple.com/documentation/security/sectrust
public final class SecTrust {}

// https://developer.apple.com/documentation/security/seccertificate
public final class SecCertificate {}

// https://developer.apple.com/documentation/security/sectrustsetanchorcertificates(_:_:)
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/sectrustsetanchorcertificatesonly(_:_:)
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    fatalError()
}

// https://developer.apple.com/documentation/security/sectrustevaluateasyncwitherror(_:_:_:)
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: dispatch_queue_t, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/sectrustwitherrorcallback
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

// https://developer.apple.com/documentation/security/sectrustcopycertificatechain(_:)
@available(iOS 15, macOS 12, tvOS 15, watchOS 8, *)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { fatalError() }

// https://developer.apple.com/documentation/security/seccertificatecreatewithdata(_:_:)
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { fatalError() }

// https://developer.apple.com/documentation/security/seccertificatecopydata(_:)
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }

// https://developer.apple.com/documentation/security/tls_protocol_version_t
public enum tls_protocol_version_t: UInt16, Sendable {
    case TLSv10 = 769
    case TLSv11 = 770
    case TLSv12 = 771
    case TLSv13 = 772
    case DTLSv10 = 65279
    case DTLSv12 = 65277
}
