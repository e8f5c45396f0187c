/// When a Keychain item may be read.
///
/// https://developer.apple.com/documentation/security/restricting-keychain-item-accessibility
public enum KeychainAccessibility: String, Sendable, Hashable, CaseIterable {
    /// From the first time the device is unlocked after it was started, and on this device alone. The right one for
    /// sessions: work in the background goes on while the device is locked, and no backup takes the tokens elsewhere.
    case afterFirstUnlockThisDeviceOnly
    /// From the first time the device is unlocked after it was started. Encrypted backups take it to other devices, where
    /// two of them would renew the same tokens.
    case afterFirstUnlock
    /// While the device is unlocked, and on this device alone. Tokens cannot be renewed in the background.
    case whenUnlockedThisDeviceOnly
    /// While the device is unlocked. Encrypted backups take it to other devices.
    case whenUnlocked
    /// While the device is unlocked, on this device alone, and as long as it has a passcode: removing that deletes the
    /// item.
    case whenPasscodeSetThisDeviceOnly
}

/// Whether a person must confirm who they are before a Keychain item is read.
public struct KeychainAuthentication: Sendable, Hashable {
    enum Requirement: Hashable, Sendable {
        case userPresence, currentBiometry
    }

    /// `nil` where nobody is asked.
    let requirement: Requirement?
    /// What the system says the person is asked for.
    let reason: String

    /// Nobody is asked.
    public static let none = KeychainAuthentication(requirement: nil, reason: "")

    /// By face, fingerprint or passcode.
    ///
    /// The person is asked once in the life of a store, until ``KeychainStorage/lock()``, and only when something is needed:
    /// what other processes change is not noticed before. The item stays readable after a new finger or face was enrolled.
    /// An item that was there before is protected when it is next written.
    /// - Parameter reason: What the system says the person is asked for, such as "Open your account".
    public static func userPresence(_ reason: String) -> KeychainAuthentication {
        KeychainAuthentication(requirement: .userPresence, reason: reason)
    }

    /// By a face or fingerprint that was enrolled when the item was written; there is no way round by passcode.
    ///
    /// Whoever enrols another one makes the item unreadable for ever, so that the person has to sign in again.
    /// - Parameter reason: What the system says the person is asked for, such as "Open your account".
    public static func currentBiometry(_ reason: String) -> KeychainAuthentication {
        KeychainAuthentication(requirement: .currentBiometry, reason: reason)
    }
}

/// What becomes of items that an earlier installation of the app has left: Keychain items outlive the app that made them.
public enum KeychainReinstallPolicy: Sendable, Hashable {
    /// They are used: who installs the app again is still signed in.
    case keep
    /// They are deleted, where it is certain that the app was deleted in between.
    ///
    /// Certain is what a random number in a file says, which goes with the app while the one in the item stays. An item
    /// without a number, from before this was chosen, is kept, and gets one when it is next written. While the folder
    /// cannot be read, before the device is first unlocked say, nothing is deleted: an app that the system starts ahead of
    /// time must not take that for a new installation.
    ///
    /// - `folder`: Where the number is. It must be deleted with the app and by nothing else, so not a folder of caches, and
    ///   be the same for all who share the items: with extensions in the same access group, one in the container of their
    ///   app group.
    case forget(folder: String)
}

/// Which Keychain an item goes to on macOS; other systems have one only.
public enum MacKeychain: Sendable, Hashable {
    /// The one that iOS has, for which the app must be signed. A process that is not, a command-line tool say, uses the
    /// login keychain. Items that it has put there are not looked for once it is signed.
    case dataProtectionOrLogin
    /// The one that iOS has. A process that is not signed for it gets a ``StorageFailure``.
    case dataProtection
    /// The login keychain, a file. It knows neither ``KeychainAccessibility`` nor ``KeychainAuthentication``, and asks the
    /// user when another program, or this one with another signature, wants to read an item.
    case login
}

/// Who was recognised in the life of a store; on Apple's systems an `LAContext`.
///
/// It is a value of its own so that queries can be compared.
struct KeychainAuthenticationContext: Hashable, Sendable {
    var reason: String
    /// Another one for each time that the store was locked.
    var generation: Int
}
