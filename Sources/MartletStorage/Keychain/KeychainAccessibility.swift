/// The condition under which a Keychain item may be read.
///
/// https://developer.apple.com/documentation/security/restricting-keychain-item-accessibility
public enum KeychainAccessibility: String, Sendable, Hashable, CaseIterable {
    /// After the first unlock since the device started, on this device only. Recommended for sessions: the app can
    /// refresh tokens in the background while the device is locked, and no backup copies them to another device.
    case afterFirstUnlockThisDeviceOnly
    /// After the first unlock since the device started. Encrypted backups copy the item to other devices, where a
    /// second copy of the app would refresh the same tokens.
    case afterFirstUnlock
    /// While the device is unlocked, on this device only. The app cannot refresh tokens in the background.
    case whenUnlockedThisDeviceOnly
    /// While the device is unlocked. Encrypted backups copy the item to other devices.
    case whenUnlocked
    /// While the device is unlocked, on this device only. Removing the device's passcode deletes the item.
    case whenPasscodeSetThisDeviceOnly
}

/// Whether the user must authenticate before a secret in the Keychain is read. Not available on tvOS, where reading
/// fails with it. An app that uses it needs the key `NSFaceIDUsageDescription` in its property list.
///
/// The user is prompted once in the life of a store, when the secret is first needed, and again after
/// ``AnyTokenStore/forgetAuthentication()``. Changes by other processes are noticed only when the secret is read.
///
/// - A ``SecureStorage`` puts each value under access control (`kSecAttrAccessControl`): the system itself refuses to
///   decrypt it without the user. Replacing a value prompts the user, too. An existing value is protected from its next
///   write on.
/// - A **session** is not under access control, because it must be written without the user: a refresh may replace the
///   tokens at any time, even while the screen is locked. If the system refused that write, the device would keep a
///   refresh token that the server has already replaced. Instead, the store prompts the user (`LAContext`) before it
///   reads the session, but never when it writes.
public enum KeychainAuthentication: Sendable, Hashable {
    /// The user is not prompted.
    case none
    /// The user authenticates by face, fingerprint or passcode. The secret stays readable when the user enrolls another
    /// finger or face.
    ///
    /// `reason` is the text that the system shows to the user, such as "Open your account". With an empty message,
    /// every access throws a ``StorageError``.
    case userPresence(_ reason: String)
    /// The user authenticates by a face or fingerprint that was enrolled when the secret was first written; a passcode
    /// does not suffice. If the user enrolls another one, the secret becomes unreadable for good, and the user must
    /// sign in again. Not available on watchOS, where reading a session then fails.
    ///
    /// `reason` is the text that the system shows to the user, such as "Open your account". With an empty message,
    /// every access throws a ``StorageError``.
    case currentBiometry(_ reason: String)
}

/// The Keychain that a process uses on macOS. Other platforms have only one.
public enum MacKeychain: Sendable, Hashable {
    /// The data protection Keychain. A process that is not signed for it uses the login keychain, unless an access
    /// group or authentication is configured. Items there are no longer found once the process is signed.
    case automatic
    /// The data protection Keychain. A process that is not signed for it gets a ``StorageError``.
    case dataProtection
    /// The login keychain, which ignores accessibility and authentication.
    case login
}

extension KeychainAuthentication {
    /// The way in which the user must authenticate.
    package enum Requirement: Hashable, Sendable {
        case userPresence, currentBiometry
    }

    /// `nil` if the user is not prompted.
    var requirement: Requirement? {
        switch self {
        case .none: nil
        case .userPresence: .userPresence
        case .currentBiometry: .currentBiometry
        }
    }

    var reason: String {
        switch self {
        case .none: ""
        case .userPresence(let reason), .currentBiometry(let reason): reason
        }
    }

    /// Whether a prompt would have no reason text. `LAContext` raises an exception in that case.
    var lacksReason: Bool { requirement != nil && reason.allSatisfy(\.isWhitespace) }
}

/// Stands for an `LAContext` in a query, so that queries can be compared.
package struct KeychainAuthenticationContext: Hashable, Sendable {
    var reason: String
    /// Changes each time the authentication is forgotten.
    var generation: Int
}
