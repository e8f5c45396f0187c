public import CoreFoundation

// https://developer.apple.com/documentation/security/seckey
@available(iOS 2, macOS 10.3, tvOS 9, watchOS 2, visionOS 1, *)
public final class SecKey {}

// https://developer.apple.com/documentation/security/seckeycreatewithdata(_:_:_:)
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? { fatalError() }

// https://developer.apple.com/documentation/security/seckeyverifysignature(_:_:_:_:_:)
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool { fatalError() }

// https://developer.apple.com/documentation/security/seckeyalgorithm
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
public struct SecKeyAlgorithm: RawRepresentable, Hashable {
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }
    public static func == (left: SecKeyAlgorithm, right: SecKeyAlgorithm) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
    public static var rsaSignatureMessagePKCS1v15SHA256: SecKeyAlgorithm { fatalError() }
    @available(iOS 11, macOS 10.13, tvOS 11, watchOS 4, visionOS 1, *)
    public static var rsaSignatureMessagePSSSHA256: SecKeyAlgorithm { fatalError() }
}

// https://developer.apple.com/documentation/security/item-attribute-keys-and-values
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrKeyClass: CFString { fatalError() }
@available(iOS 2, macOS 10.7, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrKeyClassPublic: CFString { fatalError() }
@available(iOS 2, macOS 10.6, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrKeyType: CFString { fatalError() }
@available(iOS 2, macOS 10.7, tvOS 9, watchOS 2, visionOS 1, *)
public var kSecAttrKeyTypeRSA: CFString { fatalError() }
