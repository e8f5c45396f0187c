/// What the app can know of its session, and act on.
///
/// ```swift
/// for await state in tokens.states {
///     switch state {
///     case .signedIn: router.show(.home)
///     case .signedOut: router.show(.login)
///     case .expired(let reason): router.show(.signInAgain(reason))
///     case .loading, .unavailable: router.show(.splash)
///     }
/// }
/// ```
public enum SessionState: Sendable, Hashable {
    /// The store has not been read yet.
    case loading
    /// The store cannot be read for now. This is not "signed out": ask again later.
    case unavailable(StorageFailure)
    /// Nobody is signed in.
    case signedOut
    /// Somebody is signed in.
    case signedIn(SignedInSession)
    /// The server ended the session: show the login screen. It stays so until the next sign-in.
    case expired(ExpiryReason)

    /// Whether somebody is signed in.
    public var isSignedIn: Bool {
        if case .signedIn = self { true } else { false }
    }
}

/// A session that is signed in.
public struct SignedInSession: Sendable, Hashable {
    /// Which sign-in it is.
    public let id: SessionID
    /// Who signed in.
    public let account: SessionAccount
    /// The token is used up and could not be renewed yet: the app is signed in, but offline or out of luck.
    public let isStale: Bool
    /// Whether the store has the newest tokens. `false` after a failed write, which is tried again.
    public let isSaved: Bool

    /// A session that is signed in.
    public init(id: SessionID, account: SessionAccount = SessionAccount(), isStale: Bool = false, isSaved: Bool = true)
    {
        self.id = id
        self.account = account
        self.isStale = isStale
        self.isSaved = isSaved
    }
}
