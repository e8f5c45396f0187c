/// The reason why a session has expired: how the server showed that it no longer accepts the session's tokens.
@nonexhaustive public enum ExpiryReason: Sendable, Hashable, CustomStringConvertible {
    /// The server rejected the refresh token; contains its error code, if it sent one.
    case refreshTokenRejected(code: String?)
    /// The server rejected the access token, and there is no refresh token.
    case noRefreshToken
    /// The server rejected a refresh token whose fate was unknown: a crash or a lost response had interrupted an
    /// earlier refresh, or two processes may have sent the same token.
    case rotationLost

    /// The reason in a few words.
    public var description: String {
        switch self {
        case .refreshTokenRejected(let code):
            "the server rejected the refresh token" + (code.map { " (\($0))" } ?? "")
        case .noRefreshToken: "the server rejected the access token, and there is no refresh token"
        case .rotationLost: "an earlier refresh was interrupted, and its new tokens were lost"
        }
    }
}
