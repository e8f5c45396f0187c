public import Martlet

/// The screen that an app shows for a session's state.
public enum SessionRoute: Sendable, Hashable {
    /// The stored session has not been read yet: show a splash screen.
    case loading
    /// No user is signed in: show the login.
    case login
    /// A user is signed in: show the app's content.
    case content(SignedInSession)
    /// The server ended the session: show the login with the reason.
    case signInAgain(ExpiryReason)
    /// The stored session cannot be read at the moment. The user may still be signed in.
    case unavailable(StorageError)
    /// The stored session cannot be read, and waiting does not help: show the login with the reason.
    case unreadable(StorageError)

    /// A message for the user, in the user's language; `nil` if there is nothing to explain.
    public var message: String? {
        switch self {
        case .loading, .login, .content: nil
        case .signInAgain(let reason): reason.userText
        case .unavailable(let failure), .unreadable(let failure): failure.userText
        }
    }
}
