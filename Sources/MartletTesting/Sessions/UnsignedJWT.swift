public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Makes well-formed JWTs without a valid signature (RFC 7519).
public enum UnsignedJWT {
    /// Makes a token with claims.
    ///
    /// ```swift
    /// let token = try UnsignedJWT.make(
    ///     subject: "ada", expiresAt: time.wallClock + 60, claims: ["role": "editor", "groups": ["birds", "bees"]])
    /// ```
    /// - Parameters:
    ///   - subject: The claim `sub`.
    ///   - issuedAt: The claim `iat`.
    ///   - expiresAt: The claim `exp`.
    ///   - claims: More claims, which override the other parameters. Dates are encoded as seconds since 1970 (RFC 7519,
    ///     section 2).
    /// - Throws: The error of `JSONEncoder` if a claim cannot be encoded.
    public static func make(
        subject: String? = nil, issuedAt: Date? = nil, expiresAt: Date? = nil, claims: [String: any Encodable] = [:]
    ) throws -> Secret {
        var all: [String: any Encodable] = [:]
        if let subject { all["sub"] = subject }
        if let issuedAt { all["iat"] = Int(issuedAt.timeIntervalSince1970) }
        if let expiresAt { all["exp"] = Int(expiresAt.timeIntervalSince1970) }
        all.merge(claims) { _, claim in claim }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        return make(claims: String(decoding: try encoder.encode(all.mapValues(AnyClaim.init)), as: UTF8.self))
    }

    /// Makes a token from its claims as JSON text.
    public static func make(claims: String) -> Secret {
        func encode(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return Secret(encode(#"{"alg":"none"}"#) + "." + encode(claims) + "." + encode("signature"))
    }

    /// Makes a token with the claims `iat` and `exp`.
    public static func make(issuedAt: Date, expiresAt: Date) -> Secret {
        make(claims: #"{"iat":\#(Int(issuedAt.timeIntervalSince1970)),"exp":\#(Int(expiresAt.timeIntervalSince1970))}"#)
    }
}

/// A claim of any type.
private struct AnyClaim: Encodable {
    let value: any Encodable

    func encode(to encoder: any Encoder) throws {
        // Encode with a container, so that the encoder's date strategy applies.
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
