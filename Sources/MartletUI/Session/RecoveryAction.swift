public import Martlet

/// A way to continue from a screen that cannot show the content.
public enum RecoveryAction: Sendable, Hashable {
    /// Unlocking the device or the keyring, as the message says. The session is then read again automatically.
    case unlock
    /// A button that reads the stored session again: ``SessionRouting/retry()``.
    case retry
    /// The login. A sign-in starts a new session.
    case signIn
}

extension RecoveryAction: Identifiable {
    /// The action itself, for lists of buttons.
    public var id: RecoveryAction { self }
}

extension SessionRoute {
    /// The ways to continue from this screen, the best first. Empty for ``loading``, which ends by itself, and for the
    /// content.
    public var recoveryActions: [RecoveryAction] {
        switch self {
        case .loading, .content: []
        case .login, .signInAgain: [.signIn]
        case .unavailable(let failure), .unreadable(let failure): failure.recoveryActions
        }
    }
}

extension StorageError {
    /// The ways to continue if the stored session cannot be read for this reason, the best first.
    public var recoveryActions: [RecoveryAction] {
        switch kind {
        // A keyring whose password is lost must not lock the user out.
        case .locked: [.unlock, .retry, .signIn]
        // A sign-in works, but the cause of the failed reading may also prevent saving.
        case .unreachable, .unsafePermissions, .foreign: [.retry, .signIn]
        case .corrupt, .tooNew: [.signIn, .retry]
        }
    }
}
