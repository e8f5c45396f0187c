import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Invalid token times do not crash", .timeLimit(.minutes(10))) struct InvalidTokenTimesTests {
    @Test("a leeway that is no number counts as none", arguments: [Double.nan, -Double.infinity, -1])
    func leeway(fraction: Double) {
        var policy = SessionPolicy()
        policy.leewayFraction = fraction
        #expect(policy.leeway(forLifetime: .seconds(3600)) == .zero)
    }

    @Test(
        "the response to a refresh may contain invalid expiry times",
        arguments: [
            #""expiresAt":1e40"#, #""expiresAt":-1e40"#, #""expiresIn":1e300"#, #""expires_at":"9999999999999""#,
        ])
    func invalidTimes(field: String) async throws {
        let app = try await App.signedIn()
        app.backend.beforeRefresh { _ in .json(#"{"accessToken":"a","refreshToken":"b",\#(field)}"#) }
        try await app.tokens.refresh()
        #expect(app.tokens.state.isSignedIn)
    }

    @Test(
        "a JWT may contain invalid times", arguments: [#"{"iat":1,"exp":1e40}"#, #"{"exp":1e300}"#, "{}", "[]"])
    func invalidClaims(claims: String) async throws {
        let app = App()
        try await app.tokens.signIn(with: Tokens(accessToken: UnsignedJWT.make(claims: claims)))
        #expect(app.tokens.state.isSignedIn)
    }

    @Test("a stored record may contain invalid times") func invalidRecord() async throws {
        let json = """
            {"version":1,"session":{"id":"x","rotation":0,"bundle":{"accessToken":"a","refreshToken":"b"},\
            "estimatedExpiry":1e300,"lifetime":[195,2875508588929155072],"account":{"isGuest":false}}}
            """
        let record = try StoredSession(encoded: Data(json.utf8))
        let app = App(store: InMemoryTokenStore(record))
        #expect(await app.tokens.restore().isSignedIn)
    }
}
