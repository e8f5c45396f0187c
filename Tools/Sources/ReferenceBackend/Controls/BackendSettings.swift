/// What can be changed while a backend runs.
public struct BackendSettings: Sendable, Hashable {
    /// How long access tokens issued from now on are accepted.
    public var accessTokenLifetime: Duration
    /// How long refresh tokens issued from now on are accepted.
    public var refreshTokenLifetime: Duration
    /// How long a spent refresh token still answers the pair that it was exchanged for.
    public var rotationGrace: Duration
    /// Every access token is refused with 401, also one that was just issued.
    public var rejectAllAccessTokens = false
    /// Every refresh token is refused, without being revoked.
    public var refreshTokenRejected = false
    /// Refreshes answer without a refresh token, and the one presented stays valid.
    public var omitRefreshToken = false
    /// What answers say about an access token's lifetime, in the dialects that say it.
    public var expiresIn = ExpiresIn.actual
    /// Access tokens are random strings instead of JWTs.
    public var opaqueAccessTokens = false
    /// The JWTs' `iat` and `exp` are written in milliseconds.
    public var jwtExpiryInMilliseconds = false
    /// How far the backend's clock is ahead: for the Date field, for tokens and for timestamps.
    public var dateOffset = Duration.zero
    /// `POST /uploads` reads its whole body before it looks at the access token.
    public var authenticatesAfterBody = false

    /// What an answer says about an access token's lifetime.
    public enum ExpiresIn: Sendable, Hashable {
        /// The true lifetime in seconds.
        case actual
        /// Nothing.
        case absent
        /// Any value, be it true or not.
        case verbatim(JSONValue)
    }

    init(_ configuration: BackendConfiguration) {
        accessTokenLifetime = configuration.accessTokenLifetime
        refreshTokenLifetime = configuration.refreshTokenLifetime
        rotationGrace = configuration.rotationGrace
    }

    /// The member for an answer; nil where it is left out.
    var expiresInMember: JSONValue? {
        switch expiresIn {
        case .actual: .integer(Int(accessTokenLifetime.inSeconds.rounded(.down)))
        case .absent: nil
        case .verbatim(let value): value
        }
    }
}
