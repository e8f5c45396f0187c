public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension TokenBundle {
    /// A pair that lives for an hour, with a number in it to tell it from others.
    public static func fresh(_ number: Int = 0, lifetime: Duration = .seconds(3600)) -> TokenBundle {
        TokenBundle(
            accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"), lifetime: lifetime)
    }
}

extension StoredSession {
    /// A record whose token has expired an hour ago by the clock.
    public static func expired(_ bundle: TokenBundle = .fresh(), at now: Date) -> StoredSession {
        StoredSession(
            id: SessionID(), bundle: bundle, freshUntil: now.addingTimeInterval(-3600), lifetime: .seconds(3600))
    }
}

/// Makes JWTs that look right and are signed by nobody.
public enum UnsignedJWT {
    /// A token with these claims, as JSON.
    public static func make(claims: String) -> Secret {
        func encode(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return Secret(encode(#"{"alg":"none"}"#) + "." + encode(claims) + "." + encode("signature"))
    }

    /// A token issued and expiring at these moments.
    public static func make(issuedAt: Date, expiresAt: Date) -> Secret {
        make(claims: #"{"iat":\#(Int(issuedAt.timeIntervalSince1970)),"exp":\#(Int(expiresAt.timeIntervalSince1970))}"#)
    }
}
