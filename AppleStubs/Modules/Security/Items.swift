public import CoreFoundation
public import Darwin

// https://developer.apple.com/documentation/security/secitemadd(_:_:)
public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/secitemcopymatching(_:_:)
public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/secitemupdate(_:_:)
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/secitemdelete(_:)
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/seccopyerrormessagestring(_:_:)
public func SecCopyErrorMessageString(
    _ status: OSStatus, _ reserved: UnsafeMutableRawPointer?
) -> CFString? { fatalError() }

// https://developer.apple.com/documentation/security/security-framework-result-codes
public var errSecSuccess: OSStatus { fatalError() }
public var errSecAllocate: OSStatus { fatalError() }
public var errSecAuthFailed: OSStatus { fatalError() }
public var errSecDataTooLarge: OSStatus { fatalError() }
public var errSecDecode: OSStatus { fatalError() }
public var errSecDiskFull: OSStatus { fatalError() }
public var errSecDuplicateItem: OSStatus { fatalError() }
public var errSecIO: OSStatus { fatalError() }
public var errSecInteractionNotAllowed: OSStatus { fatalError() }
public var errSecInteractionRequired: OSStatus { fatalError() }
public var errSecInternalComponent: OSStatus { fatalError() }
public var errSecInternalError: OSStatus { fatalError() }
public var errSecItemNotFound: OSStatus { fatalError() }
public var errSecMissingEntitlement: OSStatus { fatalError() }
public var errSecNotAvailable: OSStatus { fatalError() }
public var errSecParam: OSStatus { fatalError() }
public var errSecReadOnly: OSStatus { fatalError() }
public var errSecUnimplemented: OSStatus { fatalError() }
public var errSecUserCanceled: OSStatus { fatalError() }
public var errSecWrPerm: OSStatus { fatalError() }
