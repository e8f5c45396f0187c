#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The functions of Apple's Keychain services and of Local Authentication, as closures, so that tests can replace them.
/// Every call blocks, except ``authenticate``, which suspends.
///
/// - https://developer.apple.com/documentation/security/keychain-services
/// - https://developer.apple.com/documentation/localauthentication
struct KeychainCalls: Sendable {
    /// `SecItemAdd(_:_:)`.
    var add: @Sendable (_ attributes: KeychainAttributes) -> KeychainStatus
    /// `SecItemCopyMatching(_:_:)`; returns the attributes of the items.
    var copyMatching: @Sendable (_ query: KeychainAttributes) -> Result<[KeychainAttributes], KeychainStatus>
    /// `SecItemUpdate(_:_:)`.
    var update: @Sendable (_ query: KeychainAttributes, _ changes: KeychainAttributes) -> KeychainStatus
    /// `SecItemDelete(_:)`.
    var delete: @Sendable (_ query: KeychainAttributes) -> KeychainStatus
    /// `LAContext.evaluatePolicy(_:localizedReason:)`: prompts the user.
    var authenticate:
        @Sendable (_ requirement: KeychainAuthentication.Requirement, _ reason: String) async -> KeychainStatus
    /// `LAContext.evaluatedPolicyDomainState`: changes when a face or fingerprint is enrolled or removed. `nil` if it
    /// cannot be determined now. Does not prompt the user.
    var enrolledBiometry: @Sendable () -> String?
}

/// The attributes of a Keychain item or a query.
package typealias KeychainAttributes = [KeychainKey: KeychainValue]

/// The attributes of Keychain items and queries.
package enum KeychainKey: Hashable, Sendable {
    /// `kSecAttrService`, `kSecAttrAccount`: identify a generic password.
    case service, account
    /// `kSecAttrAccessGroup`: the apps that share the item.
    case accessGroup
    /// `kSecAttrSynchronizable`: whether iCloud Keychain copies the item to the user's other devices. A query without
    /// it finds only items that are not copied.
    case synchronizable
    /// `kSecAttrAccessible`: when the item may be read.
    case accessible
    /// `kSecAttrAccessControl`: when the item may be read, and how the user authenticates.
    case accessControl
    /// `kSecAttrGeneric`: data of the app that is not secret.
    case generic
    /// `kSecAttrLabel`: the name in Keychain Access.
    case label
    /// `kSecAttrComment`: text that is not secret.
    case comment
    /// `kSecValueData`: the secret.
    case data
    /// `kSecUseDataProtectionKeychain`: on macOS, the data protection Keychain instead of the login keychain.
    case useDataProtection
    /// `kSecUseAuthenticationContext`: an earlier authentication of the user, and the text of the prompt.
    case authenticationContext
    /// `kSecReturnData`, `kSecReturnAttributes`, `kSecMatchLimit`: the results of a query.
    case returnData, returnAttributes, matchLimit
}

/// The value of an attribute, comparable in tests. ``KeychainCalls/system()`` converts it to Foundation's type.
package enum KeychainValue: Hashable, Sendable {
    case text(String)
    case bytes(Data)
    case flag(Bool)
    /// `kSecAttrSynchronizableAny`: items that are copied and items that are not.
    case either
    case limit(KeychainLimit)
    case accessible(KeychainAccessibility)
    case accessControl(KeychainAccessibility, KeychainAuthentication.Requirement)
    case authenticationContext(KeychainAuthenticationContext)
}

/// The number of items that a query returns (`kSecMatchLimit`).
package enum KeychainLimit: Hashable, Sendable {
    case one, all
}

extension KeychainAttributes {
    package subscript(text key: KeychainKey) -> String? {
        get { if case .text(let text)? = self[key] { text } else { nil } }
        set { self[key] = newValue.map(KeychainValue.text) }
    }

    package subscript(bytes key: KeychainKey) -> Data? {
        get { if case .bytes(let bytes)? = self[key] { bytes } else { nil } }
        set { self[key] = newValue.map(KeychainValue.bytes) }
    }
}

/// The `OSStatus` of a Keychain function.
///
/// https://developer.apple.com/documentation/security/security-framework-result-codes
package struct KeychainStatus: RawRepresentable, Hashable, Error {
    package var rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    static let success = KeychainStatus(rawValue: 0)
    /// `errSecUserCanceled`: the user dismissed the prompt.
    static let userCanceled = KeychainStatus(rawValue: -128)
    /// `errSecParam`: an argument is invalid.
    static let parameter = KeychainStatus(rawValue: -50)
    /// `errSecNotAvailable`: no Keychain is available.
    static let notAvailable = KeychainStatus(rawValue: -25_291)
    /// `errSecAuthFailed`: the user failed to authenticate.
    static let authenticationFailed = KeychainStatus(rawValue: -25_293)
    /// `errSecDuplicateItem`: the item exists.
    static let duplicateItem = KeychainStatus(rawValue: -25_299)
    /// `errSecItemNotFound`: there is no such item, or the device is locked.
    static let itemNotFound = KeychainStatus(rawValue: -25_300)
    /// `errSecInteractionNotAllowed`: the item cannot be read before the device is unlocked.
    static let interactionNotAllowed = KeychainStatus(rawValue: -25_308)
    /// `errSecDecode`: the item is damaged.
    package static let decode = KeychainStatus(rawValue: -26_275)
    /// Not a status of the system: the enrolled faces or fingerprints have changed since the sign-in.
    static let biometryChanged = KeychainStatus(rawValue: 1)
    /// `errSecMissingEntitlement`: the app is not signed for this Keychain or this access group.
    static let missingEntitlement = KeychainStatus(rawValue: -34_018)
}

extension KeychainStatus {
    /// The error for callers.
    /// - Parameters:
    ///   - action: The action that failed, as in "read the session".
    ///   - isLogin: Whether it failed in the login keychain of macOS.
    package func failure(_ action: String, inLogin isLogin: Bool = false) -> StorageError {
        let (kind, reason) = (isLogin ? reasonInLogin : nil) ?? reason
        return StorageError(kind, "could not \(action) in the \(isLogin ? "login keychain" : "Keychain"): \(reason)")
    }

    /// The reason in the login keychain, if it differs there. That keychain recognizes programs by their signature,
    /// which in a build without a team is a hash of the build.
    private var reasonInLogin: (StorageError.Kind, String)? {
        switch self {
        case .interactionNotAllowed:
            (
                .locked,
                "it is locked, and no prompt can be shown; unlock it, without a screen with security unlock-keychain"
            )
        case .userCanceled, .authenticationFailed:
            (
                .locked,
                "the user has not let this program use the item. Each build without a team's signature is another program "
                    + "there: sign the program, or choose Always Allow after each build"
            )
        default: nil
        }
    }

    private var reason: (StorageError.Kind, String) {
        switch self {
        case .interactionNotAllowed:
            (.locked, "the device or the keychain is locked; unlock it")
        case .userCanceled: (.locked, "the user dismissed the prompt; try again")
        case .authenticationFailed:
            (.locked, "the user failed to authenticate, or the device has no passcode; try again")
        case .missingEntitlement:
            (
                .unreachable,
                "the app is not signed for it. Add the capability Keychain Sharing, and the access group if one is "
                    + "used"
            )
        case .decode: (.corrupt, "the item is damaged; delete it and sign in again")
        case .biometryChanged:
            (.corrupt, "another face or fingerprint is enrolled than at the sign-in; sign in again")
        case .notAvailable: (.unreachable, "no Keychain is available; try again later")
        default: (.unreachable, "Keychain services returned the status \(rawValue); see OSStatus")
        }
    }
}
