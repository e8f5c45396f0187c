public import CoreFoundation

// https://developer.apple.com/documentation/security/item-class-keys-and-values
public var kSecClass: CFString { fatalError() }
public var kSecClassGenericPassword: CFString { fatalError() }

// https://developer.apple.com/documentation/security/item-attribute-keys-and-values
public var kSecAttrAccessGroup: CFString { fatalError() }
public var kSecAttrAccessible: CFString { fatalError() }
public var kSecAttrAccessibleAfterFirstUnlock: CFString { fatalError() }
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { fatalError() }
public var kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString { fatalError() }
public var kSecAttrAccessibleWhenUnlocked: CFString { fatalError() }
public var kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString { fatalError() }
public var kSecAttrAccount: CFString { fatalError() }
public var kSecAttrAccessControl: CFString { fatalError() }
public var kSecAttrComment: CFString { fatalError() }
public var kSecAttrCreationDate: CFString { fatalError() }
public var kSecAttrDescription: CFString { fatalError() }
public var kSecAttrGeneric: CFString { fatalError() }
public var kSecAttrLabel: CFString { fatalError() }
public var kSecAttrModificationDate: CFString { fatalError() }
public var kSecAttrService: CFString { fatalError() }
public var kSecAttrSynchronizable: CFString { fatalError() }
public var kSecAttrSynchronizableAny: CFString { fatalError() }

// https://developer.apple.com/documentation/security/search-attribute-keys-and-values
public var kSecMatchLimit: CFString { fatalError() }
public var kSecMatchLimitAll: CFString { fatalError() }
public var kSecMatchLimitOne: CFString { fatalError() }

// https://developer.apple.com/documentation/security/item-return-result-keys
public var kSecReturnAttributes: CFString { fatalError() }
public var kSecReturnData: CFString { fatalError() }
public var kSecReturnPersistentRef: CFString { fatalError() }
public var kSecValueData: CFString { fatalError() }
public var kSecValuePersistentRef: CFString { fatalError() }

// https://developer.apple.com/documentation/security/keychain-services
public var kSecUseAuthenticationContext: CFString { fatalError() }
public var kSecUseDataProtectionKeychain: CFString { fatalError() }
