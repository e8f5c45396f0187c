public import CoreFoundation
public import Darwin

// https://developer.apple.com/documentation/security/secidentity
public final class SecIdentity {}

// https://developer.apple.com/documentation/security/secidentitygettypeid()
public func SecIdentityGetTypeID() -> CFTypeID { fatalError() }

// https://developer.apple.com/documentation/security/secpkcs12import(_:_:_:)
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/ksecimportexportpassphrase
public var kSecImportExportPassphrase: CFString { fatalError() }
// https://developer.apple.com/documentation/security/ksecimportitemidentity
public var kSecImportItemIdentity: CFString { fatalError() }
// https://developer.apple.com/documentation/security/ksecimportitemcertchain
public var kSecImportItemCertChain: CFString { fatalError() }
#if os(macOS)
    // https://developer.apple.com/documentation/security/ksecimporttomemoryonly
    @available(macOS 15, *)
    public var kSecImportToMemoryOnly: CFString { fatalError() }
#endif
// https://developer.apple.com/documentation/security/ksecclassidentity
public var kSecClassIdentity: CFString { fatalError() }
// https://developer.apple.com/documentation/security/ksecreturnref
public var kSecReturnRef: CFString { fatalError() }
