/// The state of a session, as the app sees it.
///
/// ```swift
/// for await state in tokens.states {
///     switch state {
///     case .loading: router.show(.splash)
///     case .signedIn: router.show(.home)
///     case .signedOut: router.show(.login)
///     case .expired(let reason): router.show(.signInAgain(reason))
///     case .unavailable(let error): router.show(.retry, error)
///     case .unreadable(let error): router.show(.login, error)
///     }
/// }
/// ```
public enum SessionState: Sendable, Hashable {
    /// The store has not been read yet.
    case loading
    /// The store cannot be read now. This does not mean "signed out": the manager tries again by itself, unless reading
    /// prompts the user.
    case unavailable(StorageError)
    /// There is a record, but waiting will not make it readable: it is damaged, other users can read it, or a newer
    /// version or another program wrote it. Show the reason and the login. A sign-in starts a session, and replaces the
    /// record unless another program wrote it.
    case unreadable(StorageError)
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
    /// The user who signed in.
    public let account: SessionAccount
    /// Whether the access token has expired and the last refresh failed with a transient error, such as no network. It
    /// changes when a call needs a token, not when the time of the token passes.
    public let isStale: Bool
    /// The reason why the store does not contain the newest tokens; `nil` if it does. A failed write is retried.
    public let saveFailure: StorageError?
    /// The reason why this sign-in could not read the record that it replaced, for example because a newer version
    /// wrote it; `nil` if there was no record, or if it was readable.
    public let replacedRecord: StorageError?
    /// Whether the store contains the newest tokens.
    public var isSaved: Bool { saveFailure == nil }

    /// A session, for previews and tests.
    public init(
        id: SessionID, account: SessionAccount = SessionAccount(), isStale: Bool = false,
        saveFailure: StorageError? = nil, replacedRecord: StorageError? = nil
    ) {
        self.id = id
        self.account = account
        self.isStale = isStale
        self.saveFailure = saveFailure
        self.replacedRecord = replacedRecord
    }
}
