public import Martlet

/// Which screen an app shows, by the state of its session.
public enum SessionRoute: Sendable, Hashable {
    /// Nobody knows yet who is signed in: a splash screen.
    case loading
    /// Nobody is signed in: the login.
    case login
    /// Somebody is signed in: the app itself.
    case content(SignedInSession)
    /// The server has ended the session: the login again, with a word on why.
    case signInAgain(ExpiryReason)
    /// The stored session cannot be read for now, which does not mean that nobody is signed in.
    case unavailable(StorageFailure)

    /// What to tell the person, in their language; `nil` where there is nothing to explain.
    public var message: String? {
        switch self {
        case .loading, .login, .content: nil
        case .signInAgain(let reason): reason.userMessage
        case .unavailable(let failure): failure.userMessage
        }
    }
}
