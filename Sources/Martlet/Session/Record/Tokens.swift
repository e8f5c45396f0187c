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
/// let issued = Tokens(accessToken: "eyJ…", refreshToken: "def…", lifetime: .seconds(3600))
/// try await tokens.signIn(with: issued)
/// ```
public struct Tokens: Sendable, Hashable, Codable {
    /// The token that signs requests.
    public var accessToken: Secret
    /// The token that is exchanged for the next access token. If it is `nil`, the session ends when the server rejects
    /// the access token.
    public var refreshToken: Secret?
    /// The lifetime of the access token when it was issued (RFC 6749, `expires_in`).
    public var lifetime: Duration?
    /// The time at which the access token expires. Tokens from a server use the server's clock, and tokens from a
    /// ``TokenManager`` this device's clock.
    public var expiresAt: Date?
    /// The type of the token: `Bearer` in nearly every system (RFC 6749, section 7.1).
    public var tokenType: String?
    /// The granted scope (RFC 6749, section 3.3).
    public var scope: String?
    /// Further fields of the token response that the app keeps with the session, by name; ``TokenFields`` says which.
    /// The value of a JSON string is its text. Any other value is kept as JSON.
    ///
    /// The fields are stored with the tokens, and a field that the response to a refresh repeats is replaced. They
    /// count as secrets, because an ID token identifies the user. A manager keeps at most 16 KB of names and values,
    /// because some stores have little room, and leaves out the largest fields until the rest fits.
    public var additionalFields: [String: Secret] {
        get { fields ?? [:] }
        set { fields = newValue.isEmpty ? nil : newValue }
    }
    /// Optional, so that a record without fields can be decoded.
    private var fields: [String: Secret]?
    /// The server's clock when it issued the tokens: the response's `Date` field. ``expiresAt`` and the dates in a JWT
    /// are relative to it. It is not stored.
    public var serverDate: Date?

    /// The tokens as the server issued them.
    /// - Parameters:
    ///   - accessToken: The token that signs requests.
    ///   - refreshToken: The token that is exchanged for the next access token.
    ///   - lifetime: The lifetime of the access token. A value of zero or less counts as unknown.
    ///   - expiresAt: The time at which the access token expires, by the server's clock.
    ///   - tokenType: The type of the token, such as `Bearer`.
    ///   - scope: The granted scope.
    ///   - additionalFields: Further fields to keep with the session, such as `id_token`.
    public init(
        accessToken: Secret,
        refreshToken: Secret? = nil,
        lifetime: Duration? = nil,
        expiresAt: Date? = nil,
        tokenType: String? = nil,
        scope: String? = nil,
        additionalFields: [String: Secret] = [:]
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.lifetime = lifetime
        self.expiresAt = expiresAt
        self.tokenType = tokenType
        self.scope = scope
        self.additionalFields = additionalFields
    }

    /// Whether the access token has expired. If ``expiresAt`` is `nil`, only the server knows, and the result is
    /// `false`.
    ///
    /// Use it for tokens that a ``TokenManager`` returned, such as ``TokenManager/currentTokens``. The result is an
    /// estimate, because the user can set the clock. ``TokenManager/validTokens()`` does not depend on the clock.
    /// - Parameter date: The time by this device's clock.
    public func isExpired(at date: Date = Date()) -> Bool {
        expiresAt.map { $0 <= date } ?? false
    }

    /// The ID token of OpenID Connect, if it is one of the ``additionalFields``: `id_token`, else `idToken`. Only
    /// libraries that verify its signature may trust its content.
    public var idToken: Secret? {
        additionalFields["id_token"] ?? additionalFields["idToken"]
    }

    private enum CodingKeys: String, CodingKey {
        case accessToken, refreshToken, lifetime, expiresAt, tokenType, scope
        case fields = "additionalFields"
    }

    /// The same tokens for the app, with their expiry by this device's clock. They have no lifetime: it would start
    /// again if the app passed them to another manager.
    func expiring(at date: Date?) -> Tokens {
        var tokens = self
        tokens.lifetime = nil
        tokens.expiresAt = date
        return tokens
    }

    /// The same tokens as a record keeps them: without white space around the tokens, which a header field would lose,
    /// without ``serverDate``, which is meaningless later, without an empty refresh token, and without an implausible
    /// expiry date. JSON cannot represent an infinite date, so the record could not be written.
    var storable: Tokens {
        var tokens = self
        tokens.serverDate = nil
        tokens.accessToken = accessToken.trimmed
        tokens.refreshToken = refreshToken?.trimmed
        if tokens.refreshToken?.isEmpty == true { tokens.refreshToken = nil }
        if let date = expiresAt, !(abs(date.timeIntervalSince1970) < 1e11) { tokens.expiresAt = nil }
        tokens.limitFields()
        return tokens
    }

    /// Keeps values that the response to a refresh need not repeat (for `id_token`: OpenID Connect Core 1.0, section
    /// 12.2).
    mutating func keepDetails(of earlier: Tokens) {
        tokenType = tokenType ?? earlier.tokenType
        guard let kept = earlier.fields else { return }
        additionalFields.merge(kept) { new, _ in new }
        limitFields()
    }

    /// Removes the largest fields until the rest is small enough. If a store refused a large record, the session would
    /// be lost when the app ends.
    private mutating func limitFields() {
        guard var left = fields else { return }
        var sizes = left.map { (size: $0.utf8.count + $1.reveal().utf8.count, name: $0) }.sorted { $0 < $1 }
        var total = sizes.reduce(0) { $0 + $1.size }
        while total > Self.largestFields, let largest = sizes.popLast() {
            left[largest.name] = nil
            total -= largest.size
        }
        additionalFields = left
    }

    /// The size limit of all ``additionalFields`` together, in bytes.
    private static let largestFields = 16 << 10
}
