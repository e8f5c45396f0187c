public import CoreFoundation

// https://developer.apple.com/documentation/security/item-class-keys-and-values
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecClass: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecClassGenericPassword: CFString { fatalError() }

// https://developer.apple.com/documentation/security/item-attribute-keys-and-values
@available(iOS 3, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccessGroup: CFString { fatalError() }
@available(iOS 4, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccessible: CFString { fatalError() }
@available(iOS 4, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccessibleAfterFirstUnlock: CFString { fatalError() }
@available(iOS 4, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { fatalError() }
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString { fatalError() }
@available(iOS 4, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccessibleWhenUnlocked: CFString { fatalError() }
@available(iOS 4, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccount: CFString { fatalError() }
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrAccessControl: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrComment: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrCreationDate: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrDescription: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrGeneric: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrLabel: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrModificationDate: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrService: CFString { fatalError() }
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrSynchronizable: CFString { fatalError() }
@available(iOS 7, macOS 10.9, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrSynchronizableAny: CFString { fatalError() }

// https://developer.apple.com/documentation/security/search-attribute-keys-and-values
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecMatchLimit: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecMatchLimitAll: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecMatchLimitOne: CFString { fatalError() }

// https://developer.apple.com/documentation/security/item-return-result-keys
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecReturnAttributes: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecReturnData: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecReturnPersistentRef: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecValueData: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecValuePersistentRef: CFString { fatalError() }

// https://developer.apple.com/documentation/security/keychain-services
@available(iOS 9, macOS 10.11, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecUseAuthenticationContext: CFString { fatalError() }
@available(iOS 13, macOS 10.15, tvOS 13, watchOS 6, visionOS 1, *)
public var kSecUseDataProtectionKeychain: CFString { fatalError() }
