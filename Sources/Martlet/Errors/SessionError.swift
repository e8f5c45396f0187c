/// The reason why there is no access token for a request.
@nonexhaustive public enum SessionError: Error, Sendable, Hashable {
    /// No user is signed in.
    case signedOut
    /// The server ended the session; the user must sign in again.
    case expired(ExpiryReason)
    /// The session that the request belonged to has ended or was replaced by another one.
    case sessionChanged
    /// The store cannot be read now, so it is unknown whether a user is signed in. A sign-in throws it if the session
    /// could not be saved and ``SessionPolicy/requiresSavedTokens`` keeps it from being used. In that case, no user is
    /// signed in.
    case unavailable(StorageError)
    /// The token has expired or was rejected, and could not be refreshed now. The session is kept.
    case refreshFailed(RefreshError)
    /// The calling task was cancelled.
    case cancelled
}

extension SessionError: CustomStringConvertible {
    /// A message that says what failed, and what to do next.
    public var description: String {
        switch self {
        case .signedOut: "No user is signed in. Sign in first."
        case .expired(let reason): "The session has ended: \(reason). Sign in again."
        case .sessionChanged: "The session that the request belonged to has ended. Do not send the request again."
        case .unavailable(let error): "The session's store cannot be used: \(error.advice)"
        case .refreshFailed(let error):
            "The access token could not be refreshed: \(error). The session is kept; try again later.".onOneLine
        case .cancelled: "The task was cancelled."
        }
    }
}
