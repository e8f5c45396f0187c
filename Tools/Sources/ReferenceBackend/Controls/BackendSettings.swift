/// The settings that can be changed while a backend runs.
public struct BackendSettings: Sendable, Hashable {
    /// The lifetime of access tokens issued from now on.
    public var accessTokenLifetime: Duration
    /// The lifetime of refresh tokens issued from now on.
    public var refreshTokenLifetime: Duration
    /// The time for which a refresh with a used refresh token returns the same pair again.
    public var rotationGrace: Duration
    /// Rejects every access token with 401, even a new one.
    public var rejectAllAccessTokens = false
    /// Rejects every refresh token without revoking it.
    public var refreshTokenRejected = false
    /// Refreshes return no refresh token, and the received one stays valid.
    public var omitRefreshToken = false
    /// The value of `expires_in` or `expiresIn`, in dialects that have it.
    public var expiresIn = ExpiresIn.actual
    /// Issues random strings instead of JWTs as access tokens.
    public var opaqueAccessTokens = false
    /// Writes the JWT claims `iat` and `exp` in milliseconds.
    public var jwtExpiryInMilliseconds = false
    /// The time by which the backend's clock is ahead. Affects the `Date` field, tokens and timestamps.
    public var dateOffset = Duration.zero
    /// Makes `POST /uploads` read the whole body before it checks the access token.
    public var authenticatesAfterBody = false

    /// The lifetime of an access token as stated in responses.
    public enum ExpiresIn: Sendable, Hashable {
        /// The actual lifetime in seconds.
        case actual
        /// No statement.
        case absent
        /// This value, whether or not it is correct.
        case verbatim(JSONValue)
    }

    init(_ configuration: BackendConfiguration) {
        accessTokenLifetime = configuration.accessTokenLifetime
        refreshTokenLifetime = configuration.refreshTokenLifetime
        rotationGrace = configuration.rotationGrace
    }

    /// The member of a response, or `nil` to omit it.
    var expiresInMember: JSONValue? {
        switch expiresIn {
        case .actual: .integer(Int(accessTokenLifetime.inSeconds.rounded(.down)))
        case .absent: nil
        case .verbatim(let value): value
        }
    }
}
