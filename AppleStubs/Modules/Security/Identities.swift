public import CoreFoundation
public import Darwin

// https://developer.apple.com/documentation/security/secidentity
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public final class SecIdentity {}

// https://developer.apple.com/documentation/security/secidentitygettypeid()
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public func SecIdentityGetTypeID() -> CFTypeID { fatalError() }

// https://developer.apple.com/documentation/security/secpkcs12import(_:_:_:)
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/ksecimportexportpassphrase
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecImportExportPassphrase: CFString { fatalError() }
// https://developer.apple.com/documentation/security/ksecimportitemidentity
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecImportItemIdentity: CFString { fatalError() }
// https://developer.apple.com/documentation/security/ksecimportitemcertchain
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecImportItemCertChain: CFString { fatalError() }
#if os(macOS)
    // https://developer.apple.com/documentation/security/ksecimporttomemoryonly
    @available(macOS 15, *)
    @available(watchOS, unavailable)
    @available(visionOS, unavailable)
    @available(tvOS, unavailable)
    @available(iOS, unavailable)
    public var kSecImportToMemoryOnly: CFString { fatalError() }
#endif
// https://developer.apple.com/documentation/security/ksecclassidentity
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecClassIdentity: CFString { fatalError() }
// https://developer.apple.com/documentation/security/ksecreturnref
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecReturnRef: CFString { fatalError() }
