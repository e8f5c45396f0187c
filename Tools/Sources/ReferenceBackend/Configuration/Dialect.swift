/// The way a backend speaks about sessions: where tokens travel, how answers are shaped, which status means "expired".
public enum Dialect: String, CaseIterable, Codable, Sendable, Hashable {
    /// Every answer is an envelope; `POST /auth/refresh` answers a rotated pair and the user.
    case envelope
    /// OAuth 2.0: `POST /oauth/token`, snake_case token answers, problem details for errors.
    case oauth2
    /// The refresh token travels in the `refresh-token` field of `GET /auth/refresh`.
    case header
    /// Expired is 419, and a refresh answers a new access token only.
    case legacy419
    /// `POST /auth/reissue` answers the pair inside a `result` member.
    case reissue
    /// The refresh token travels in an HttpOnly cookie and never in a body.
    case cookie
}
