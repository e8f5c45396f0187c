/// The state of a session, as the app sees it.
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
    /// The store cannot be read now. This does not mean "signed out": try again later.
    case unavailable(StorageError)
    /// No user is signed in.
    case signedOut
    /// A user is signed in.
    case signedIn(SignedInSession)
    /// The server ended the session: show the login screen. The state lasts until the next sign-in or sign-out.
    case expired(ExpiryReason)

    /// Whether a user is signed in.
    public var isSignedIn: Bool {
        if case .signedIn = self { true } else { false }
    }
}

/// The current session of a signed-in user.
public struct SignedInSession: Sendable, Hashable {
    /// Identifies the session.
    public let id: SessionID
    /// The user that signed in.
    public let account: SessionAccount
    /// Whether the access token has expired and the last refresh failed with a transient error, such as no network.
    public let isStale: Bool
    /// Whether the store contains the newest tokens. `false` after a failed write, which is retried.
    public let isSaved: Bool

    /// A session, for previews and tests.
    public init(id: SessionID, account: SessionAccount = SessionAccount(), isStale: Bool = false, isSaved: Bool = true)
    {
        self.id = id
        self.account = account
        self.isStale = isStale
        self.isSaved = isSaved
    }
}
