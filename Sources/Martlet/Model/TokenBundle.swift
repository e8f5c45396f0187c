#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The tokens of one sign-in as one value: stored together, replaced together.
///
/// How long the access token lives is taken from ``lifetime`` (`expires_in`), else from ``expiresAt``, else from the
/// token itself when it is a JWT. Where none of them says anything sensible, the token is used until the server refuses
/// it.
///
/// ```swift
/// let bundle = TokenBundle(accessToken: "eyJ…", refreshToken: "def…", lifetime: .seconds(3600))
/// try await tokens.signIn(with: bundle)
/// ```
public struct TokenBundle: Sendable, Hashable, Codable {
    /// What signs requests.
    public var accessToken: Secret
    /// What buys the next access token; `nil` where the backend gives none, and then a session ends with its token.
    public var refreshToken: Secret?
    /// How long the access token lives, counted from the moment it was issued (RFC 6749, `expires_in`).
    public var lifetime: Duration?
    /// The moment at which the access token dies, by the server's clock.
    public var expiresAt: Date?
    /// `Bearer` in nearly every system (RFC 6749, section 7.1).
    public var tokenType: String?
    /// The scope that was granted (RFC 6749, section 3.3).
    public var scope: String?

    /// A bundle as a server gave it.
    /// - Parameters:
    ///   - accessToken: What signs requests.
    ///   - refreshToken: What buys the next access token.
    ///   - lifetime: `expires_in`; a value that is not above zero counts as unknown.
    ///   - expiresAt: The moment of expiry by the server's clock.
    ///   - tokenType: `Bearer` in nearly every system.
    ///   - scope: The scope that was granted.
    public init(
        accessToken: Secret,
        refreshToken: Secret? = nil,
        lifetime: Duration? = nil,
        expiresAt: Date? = nil,
        tokenType: String? = nil,
        scope: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.lifetime = lifetime
        self.expiresAt = expiresAt
        self.tokenType = tokenType
        self.scope = scope
    }
}
