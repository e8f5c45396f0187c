#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The dates in a JWT's payload (RFC 7519, section 4.1).
///
/// The signature is not verified: only the server can judge the token, and the dates only schedule its refresh.
package struct JWTClaims: Sendable, Hashable {
    /// `exp`.
    package var expiresAt: Date?
    /// `iat`.
    var issuedAt: Date?

    /// `nil` if the token is not a JWT.
    package init?(_ token: Secret) {
        let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Self.decodeBase64URL(parts[1]),
            let claims = JSONValue(body: payload), case .object = claims
        else { return nil }
        expiresAt = Self.date(claims["exp"])
        issuedAt = Self.date(claims["iat"])
    }

    /// Some servers write milliseconds instead of seconds. As seconds, a number above 1e11 would be past the year 5138.
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
