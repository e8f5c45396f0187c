/// The authorization of one call: the session that the call belongs to, the token for its next attempt, and whether the
/// server has rejected a token.
struct Authorization: Sendable {
    /// Whether the call carries a token: as the endpoint says, unless the call is a sign-in.
    let requirement: AuthenticationRequirement
    /// The owner of the call. No other session may authorize it, its retries included.
    var owner = CallOwner.unbound
    /// The fresh token that was found when the call was made, if nothing can have happened since.
    var firstCredential: Credential?
    /// The reason why there was no token, if the call waited for one before it was built.
    var firstFailure: SessionError?
    /// The token for the next attempt.
    var credential: Credential?
    /// The token that the current attempt carries.
    var attached: Credential?
    /// The reason why the session had expired, if the call goes out without a token because of it.
    var expiryReason: ExpiryReason?
    /// The reason why the manager needs to know that the server accepted the token of this attempt; `nil` if it does
    /// not.
    var reports: SessionStateMachine.Acceptance?
    /// The estimated time to send the body, for which the token must last; `nil` if the token need not last that long.
    var transferTime: Duration?
    /// Whether the server rejected the token of the attempt that has just failed.
    var isTokenRejected = false
    /// The token that was rejected, if that was before the refresh that replaces it was sent.
    var refreshedStamp: SessionStamp?
    /// The number of times the call has been sent again because of a rejected token: once, and again only with a newer
    /// token.
    var replays = 0

    /// The session that the call belongs to; `nil` if it belongs to none, or if the store had not been read.
    var session: SessionID? { owner.session }

    static let maximumReplays = 3
}
