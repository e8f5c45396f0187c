/// The session protocol of a backend: where tokens travel, how responses are shaped, which status means "expired".
public enum Dialect: String, CaseIterable, Codable, Sendable, Hashable {
    /// Every response is an envelope. `POST /auth/refresh` returns a rotated pair and the user.
    case envelope
    /// OAuth 2.0: `POST /oauth/token`, snake_case token responses, and problem details for errors.
    case oauth2
    /// The refresh token travels in the `refresh-token` field of `GET /auth/refresh`.
    case header
    /// The status 419 means "expired", and a refresh returns a new access token only.
    case legacy419
    /// `POST /auth/reissue` returns the pair in a `result` member.
    case reissue
    /// The refresh token travels in an HttpOnly cookie, never in a body.
    case cookie
}
