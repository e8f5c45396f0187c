public import CoreFoundation
public import Darwin

// https://developer.apple.com/documentation/security/secitemadd(_:_:)
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/secitemcopymatching(_:_:)
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/secitemupdate(_:_:)
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/secitemdelete(_:)
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }

// https://developer.apple.com/documentation/security/seccopyerrormessagestring(_:_:)
@available(iOS 11.3, macOS 10.3, tvOS 11.3, watchOS 4.3, visionOS 1, *)
public func SecCopyErrorMessageString(
    _ status: OSStatus, _ reserved: UnsafeMutableRawPointer?
) -> CFString? { fatalError() }

// https://developer.apple.com/documentation/security/security-framework-result-codes
// Always available.
public var errSecSuccess: OSStatus { 0 }
public var errSecAllocate: OSStatus { -108 }
public var errSecAuthFailed: OSStatus { -25293 }
public var errSecDataTooLarge: OSStatus { -25302 }
public var errSecDecode: OSStatus { -26275 }
public var errSecDiskFull: OSStatus { -34 }
public var errSecDuplicateItem: OSStatus { -25299 }
public var errSecIO: OSStatus { -36 }
public var errSecInteractionNotAllowed: OSStatus { -25308 }
public var errSecInteractionRequired: OSStatus { -25315 }
public var errSecInternalComponent: OSStatus { -2070 }
public var errSecInternalError: OSStatus { -67671 }
public var errSecItemNotFound: OSStatus { -25300 }
public var errSecMissingEntitlement: OSStatus { -34018 }
public var errSecNotAvailable: OSStatus { -25291 }
public var errSecParam: OSStatus { -50 }
public var errSecReadOnly: OSStatus { -25292 }
public var errSecUnimplemented: OSStatus { -4 }
public var errSecUserCanceled: OSStatus { -128 }
public var errSecWrPerm: OSStatus { -61 }
