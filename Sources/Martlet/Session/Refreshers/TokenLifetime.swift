#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The lifetime of a newly issued access token: from `expires_in`, else the expiry date, else the token's JWT claims.
package struct TokenLifetime: Sendable, Hashable {
    /// The whole lifetime, from which the leeway is computed.
    package let total: Duration
    /// The part of it that remains when the tokens arrive.
    let remaining: Duration

    /// A lifetime outside this range is taken for a mistake and ignored: with a zero lifetime, every call would
    /// refresh.
    private static let plausible = Duration.seconds(1)...Duration.seconds(20 * 365 * 86400)

    /// `nil` if the lifetime is unknown or implausible.
    /// - Parameters:
    ///   - tokens: The issued tokens. Their dates are relative to the server's clock (``Tokens/serverDate``).
    ///   - wallClock: The time by this device's clock, used if that of the server's clock is unknown.
    package init?(of tokens: Tokens, wallClock: Date) {
        let serverNow = tokens.serverDate ?? wallClock
        if let lifetime = tokens.lifetime, Self.isPlausible(lifetime) {
            self.init(total: lifetime, remaining: lifetime)
            return
        }
        if let expiresAt = tokens.expiresAt {
            if let remaining = Duration(untrusted: expiresAt.timeIntervalSince(serverNow)), Self.isPlausible(remaining)
            {
                self.init(total: remaining, remaining: remaining)
                return
            }
        }
        guard let claims = JWTClaims(tokens.accessToken), let expiresAt = claims.expiresAt,
            let remaining = Duration(untrusted: expiresAt.timeIntervalSince(serverNow))
        else { return nil }
        guard let issuedAt = claims.issuedAt else {
            guard Self.isPlausible(remaining) else { return nil }
            self.init(total: remaining, remaining: remaining)
            return
        }
        guard let lifetime = Duration(untrusted: expiresAt.timeIntervalSince(issuedAt)), Self.isPlausible(lifetime)
        else {
            return nil
        }
        // Without the server's date, the remaining lifetime is unreliable, because this device's clock may be hours
        // off. It is also unreliable if it is not positive, because no server issues an expired token. In both cases,
        // treat the token as new.
        let isReliable = tokens.serverDate != nil && remaining > .zero
        self.init(total: lifetime, remaining: isReliable ? min(remaining, lifetime) : lifetime)
    }

    private init(total: Duration, remaining: Duration) {
        self.total = total
        self.remaining = remaining
    }

    static func isPlausible(_ duration: Duration) -> Bool {
        plausible.contains(duration)
    }
}
