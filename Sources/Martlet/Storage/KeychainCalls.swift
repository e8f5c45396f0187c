#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The four calls of Apple's Keychain services, as values: what stands above them works, and is tested, without a
/// Keychain. Every call blocks, for as long as a person takes to be recognised where an item asks for that.
///
/// https://developer.apple.com/documentation/security/keychain-services
struct KeychainCalls: Sendable {
    /// `SecItemAdd(_:_:)`.
    var add: @Sendable (_ attributes: KeychainAttributes) -> KeychainStatus
    /// `SecItemCopyMatching(_:_:)`; the attributes of what was found.
    var copyMatching: @Sendable (_ query: KeychainAttributes) -> Result<[KeychainAttributes], KeychainStatus>
    /// `SecItemUpdate(_:_:)`.
    var update: @Sendable (_ query: KeychainAttributes, _ changes: KeychainAttributes) -> KeychainStatus
    /// `SecItemDelete(_:)`.
    var delete: @Sendable (_ query: KeychainAttributes) -> KeychainStatus
}

typealias KeychainAttributes = [KeychainKey: KeychainValue]

/// What a Keychain item has and what a query asks for, each named after the constant that it stands for.
enum KeychainKey: Hashable, Sendable {
    /// `kSecAttrService`, `kSecAttrAccount`: which generic password it is.
    case service, account
    /// `kSecAttrAccessGroup`: who may read it besides this app.
    case accessGroup
    /// `kSecAttrAccessible`: when it may be read.
    case accessible
    /// `kSecAttrAccessControl`: when it may be read, and by whom.
    case accessControl
    /// `kSecAttrGeneric`: data of the app's own that is no secret.
    case generic
    /// `kSecAttrLabel`: what people see in Keychain Access.
    case label
    /// `kSecValueData`: the secret.
    case data
    /// `kSecUseDataProtectionKeychain`: on macOS, the Keychain that iOS has, instead of the one of files.
    case useDataProtection
    /// `kSecUseAuthenticationContext`: who was recognised already, and what to say to who was not.
    case authenticationContext
    /// `kSecReturnData`, `kSecReturnAttributes`, `kSecMatchLimit`: what a query gives.
    case returnData, returnAttributes, matchLimit
}

enum KeychainValue: Hashable, Sendable {
    case text(String)
    case bytes(Data)
    case flag(Bool)
    case limit(KeychainLimit)
    case accessible(KeychainAccessibility)
    case accessControl(KeychainAccessibility, KeychainAuthentication.Requirement)
    case authenticationContext(KeychainAuthenticationContext)
}

enum KeychainLimit: Hashable, Sendable {
    case one, all
}

extension KeychainAttributes {
    subscript(text key: KeychainKey) -> String? {
        get { if case .text(let text)? = self[key] { text } else { nil } }
        set { self[key] = newValue.map(KeychainValue.text) }
    }

    subscript(bytes key: KeychainKey) -> Data? {
        get { if case .bytes(let bytes)? = self[key] { bytes } else { nil } }
        set { self[key] = newValue.map(KeychainValue.bytes) }
    }
}

/// What a call of Keychain services answers: `OSStatus`.
///
/// https://developer.apple.com/documentation/security/security-framework-result-codes
struct KeychainStatus: RawRepresentable, Hashable, Error {
    var rawValue: Int32

    static let success = KeychainStatus(rawValue: 0)
    /// `errSecUserCanceled`: the person did not want to be recognised.
    static let userCanceled = KeychainStatus(rawValue: -128)
    /// `errSecParam`: a call that makes no sense.
    static let parameter = KeychainStatus(rawValue: -50)
    /// `errSecNotAvailable`: there is no Keychain now.
    static let notAvailable = KeychainStatus(rawValue: -25_291)
    /// `errSecAuthFailed`: the person was not recognised.
    static let authenticationFailed = KeychainStatus(rawValue: -25_293)
    /// `errSecDuplicateItem`: there is such an item already.
    static let duplicateItem = KeychainStatus(rawValue: -25_299)
    /// `errSecItemNotFound`: there is no such item, or none that may be known of now.
    static let itemNotFound = KeychainStatus(rawValue: -25_300)
    /// `errSecInteractionNotAllowed`: the device is locked, and the item cannot be read before it is unlocked.
    static let interactionNotAllowed = KeychainStatus(rawValue: -25_308)
    /// `errSecDecode`: what is stored cannot be read.
    static let decode = KeychainStatus(rawValue: -26_275)
    /// `errSecMissingEntitlement`: the app is not signed for this Keychain or this access group.
    static let missingEntitlement = KeychainStatus(rawValue: -34_018)
}

extension KeychainStatus {
    /// What it means to who wanted to do something.
    /// - Parameter action: What was to be done, as in "read the session".
    func failure(_ action: String) -> StorageFailure {
        let (kind, reason): (StorageFailure.Kind, String) =
            switch self {
            case .interactionNotAllowed:
                (.locked, "the device or the keychain is locked; it works again once it has been unlocked")
            case .userCanceled: (.locked, "the person did not confirm who they are")
            case .authenticationFailed:
                (.locked, "the person was not recognised, or the device has no passcode to recognise them by")
            case .missingEntitlement:
                (
                    .unreachable,
                    "the app is not signed for it. Add the capability Keychain Sharing, and the access group if one is used"
                )
            case .decode: (.corrupt, "what is stored cannot be decoded")
            case .notAvailable: (.unreachable, "no Keychain is available")
            default: (.unreachable, "Keychain services said \(rawValue)")
            }
        return StorageFailure(kind, "could not \(action) in the Keychain: \(reason)")
    }
}
