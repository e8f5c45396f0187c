import Foundation
import Testing

@testable import Martlet

@Suite("The dates of a JWT", .timeLimit(.minutes(10))) struct JWTClaimsTests {
    private func token(_ payload: String) -> Secret {
        let base64 = Data(payload.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        return Secret("e30.\(base64.replacing("=", with: "")).")
    }

    @Test(
        "the expiry date is in seconds, or in milliseconds if it would be thousands of years away",
        arguments: [
            ("2000", 2000), (#""2000""#, 2000), ("0.5", 0.5), ("0", nil), ("-5", nil), (#""inf""#, nil),
            (#""nan""#, nil), (#""soon""#, nil), ("100000000000", 100_000_000_000), ("1795262400000", 1_795_262_400),
        ] as [(String, Double?)])
    func expiryDate(value: String, seconds: Double?) throws {
        let claims = try #require(JWTClaims(token(#"{"exp":\#(value),"iat":7}"#)))
        #expect(claims.expiresAt?.timeIntervalSince1970 == seconds)
        #expect(claims.issuedAt?.timeIntervalSince1970 == 7)
    }

    @Test("payloads of each length and with each character are decoded", arguments: 0..<4)
    func padding(length: Int) {
        let padding = String(repeating: "?>~", count: length) + String(repeating: "x", count: length)
        #expect(JWTClaims(token(#"{"exp":2000,"sub":"\#(padding)"}"#))?.expiresAt?.timeIntervalSince1970 == 2000)
    }

    @Test(
        "other tokens have no claims",
        arguments: ["", "opaque", "a.b", "e30.e30", "e30.e30.a.b", "e30.W10.", "e30.!.a"])
    func opaque(text: String) {
        #expect(JWTClaims(Secret(text)) == nil)
    }
}
