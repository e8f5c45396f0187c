#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The tokens of a session as one value: stored together and replaced together.
///
/// The lifetime of the access token comes from ``lifetime`` (`expires_in`), else from ``expiresAt``, else from the
/// token itself if it is a JWT. If none of them is plausible, the token is used until the server rejects it.
///
/// ```swift
/// let bundle = TokenBundle(accessToken: "eyJ…", refreshToken: "def…", lifetime: .seconds(3600))
/// try await tokens.signIn(with: bundle)
/// ```
public struct TokenBundle: Sendable, Hashable, Codable {
    /// The token that signs requests.
    public var accessToken: Secret
    /// The token that is exchanged for the next access token. If it is `nil`, the session ends when the server rejects
    /// the access token.
    public var refreshToken: Secret?
    /// The lifetime of the access token when it was issued (RFC 6749, `expires_in`).
    public var lifetime: Duration?
    /// When the access token expires: by the server's clock if the server issued the bundle, by this device's clock if a
    /// ``TokenManager`` returned it.
    public var expiresAt: Date?
    /// The type of the token: `Bearer` in nearly every system (RFC 6749, section 7.1).
    public var tokenType: String?
    /// The granted scope (RFC 6749, section 3.3).
    public var scope: String?
    /// The server's clock when it issued the tokens: the response's `Date` field. ``expiresAt`` and the dates in a JWT
    /// are relative to it. It is not stored.
    public var serverDate: Date?

    /// The tokens as the server issued them.
    /// - Parameters:
    ///   - accessToken: The token that signs requests.
    ///   - refreshToken: The token that is exchanged for the next access token.
    ///   - lifetime: The lifetime of the access token. A value that is not above zero counts as unknown.
    ///   - expiresAt: When the access token expires, by the server's clock.
    ///   - tokenType: The type of the token, such as `Bearer`.
    ///   - scope: The granted scope.
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

    /// Whether the access token has expired. If ``expiresAt`` is `nil`, only the server knows, and the result is `false`.
    ///
    /// Use it for a bundle that a ``TokenManager`` returned, such as ``TokenManager/currentBundle``. The result is an
    /// estimate, because a user can set the clock; ``TokenManager/validTokenBundle()`` does not depend on it.
    /// - Parameter date: The time by this device's clock.
    public func isExpired(at date: Date = Date()) -> Bool {
        expiresAt.map { $0 <= date } ?? false
    }

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, lifetime, expiresAt, tokenType, scope
    }

    /// The same tokens for the app, with their expiry by this device's clock. A lifetime, which began when the server
    /// issued them, would count from anew if the app passed the bundle on.
    func expiring(at date: Date?) -> TokenBundle {
        var bundle = self
        bundle.lifetime = nil
        bundle.expiresAt = date
        return bundle
    }

    /// The same tokens without ``serverDate``, which means nothing once they are stored.
    var withoutServerDate: TokenBundle {
        var bundle = self
        bundle.serverDate = nil
        return bundle
    }
}
