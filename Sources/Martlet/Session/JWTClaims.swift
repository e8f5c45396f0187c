#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The times in a JWT's payload (RFC 7519, section 4.1).
///
/// The signature is not checked: the token is the server's to judge, and the times only tell when asking for a new one
/// is worth while.
struct JWTClaims: Sendable, Hashable {
    /// `exp`.
    var expiresAt: Date?
    /// `iat`.
    var issuedAt: Date?

    /// `nil` where the token is no JWT.
    init?(_ token: Secret) {
        let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Self.decodeBase64URL(parts[1]),
            let claims = JSONValue(body: payload), case .object = claims
        else { return nil }
        expiresAt = Self.date(claims["exp"])
        issuedAt = Self.date(claims["iat"])
    }

    /// Some servers write milliseconds where the standard has seconds: nothing else reaches beyond the year 5138.
    private static func date(_ value: JSONValue?) -> Date? {
        guard let number = value?.number, number.isFinite, number > 0 else { return nil }
        return Date(timeIntervalSince1970: number > 1e11 ? number / 1000 : number)
    }

    private static func decodeBase64URL(_ text: Substring) -> Data? {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        while base64.utf8.count % 4 != 0 { base64 += "=" }
        return Data(base64Encoded: String(base64))
    }
}

/// How long a new access token lives, from what its answer says.
struct TokenLifetime: Sendable, Hashable {
    /// The whole lifetime, for the leeway.
    let lifetime: Duration
    /// What is left of it now.
    let remaining: Duration

    /// No sensible server means more than this.
    private static let longest = Duration.seconds(20 * 365 * 86400)

    /// `nil` where nothing sensible is known.
    /// - Parameters:
    ///   - bundle: The tokens as they came.
    ///   - serverDate: The answer's `Date` field: the server's clock, against which its dates are meant.
    ///   - wallClock: This device's clock, where the answer has no date.
    init?(of bundle: TokenBundle, serverDate: Date?, wallClock: Date) {
        let serverNow = serverDate ?? wallClock
        if let lifetime = bundle.lifetime, Self.isSensible(lifetime) {
            self.init(lifetime: lifetime, remaining: lifetime)
            return
        }
        if let expiresAt = bundle.expiresAt {
            if let remaining = Duration(untrusted: expiresAt.timeIntervalSince(serverNow)), Self.isSensible(remaining) {
                self.init(lifetime: remaining, remaining: remaining)
                return
            }
        }
        guard let claims = JWTClaims(bundle.accessToken), let expiresAt = claims.expiresAt,
            let remaining = Duration(untrusted: expiresAt.timeIntervalSince(serverNow))
        else { return nil }
        guard let issuedAt = claims.issuedAt else {
            guard Self.isSensible(remaining) else { return nil }
            self.init(lifetime: remaining, remaining: remaining)
            return
        }
        guard let lifetime = Duration(untrusted: expiresAt.timeIntervalSince(issuedAt)), Self.isSensible(lifetime)
        else {
            return nil
        }
        // Without the server's date this device's clock may be off by hours, and no server hands out an expired token:
        // then what was just issued counts as new.
        let isTrusted = serverDate != nil && remaining > .zero
        self.init(lifetime: lifetime, remaining: isTrusted ? min(remaining, lifetime) : lifetime)
    }

    private init(lifetime: Duration, remaining: Duration) {
        self.lifetime = lifetime
        self.remaining = remaining
    }

    static func isSensible(_ duration: Duration) -> Bool {
        duration > .zero && duration <= longest
    }
}
