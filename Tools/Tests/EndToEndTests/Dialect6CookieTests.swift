internal import Foundation
internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Dialect 6: the refresh token in a cookie", .timeLimit(.minutes(10)))
    struct Dialect6CookieTests {
        @Test(
            "Dialect6Cookie_guest: a guest signs in with a picture, which comes back byte for byte",
            arguments: Wire.allCases)
        func guest(wire: Wire) async throws {
            try await Scenario.guestSignsIn(.cookie, over: wire)
        }

        @Test(
            "Dialect6Cookie_burst: fifty calls with an expired token make one refresh and all succeed",
            arguments: Wire.allCases)
        func burst(wire: Wire) async throws {
            try await Scenario.burstRefreshesOnce(.cookie, over: wire)
        }

        @Test("Dialect6Cookie_restart: the next start is signed in without a login", arguments: Wire.allCases)
        func restart(wire: Wire) async throws {
            try await Scenario.restartStaysSignedIn(.cookie, over: wire)
        }

        @Test("Dialect6Cookie_revocation: a session that the server ended expires once", arguments: Wire.allCases)
        func revocation(wire: Wire) async throws {
            try await Scenario.revocationExpiresOnce(.cookie, over: wire)
        }

        @Test(
            "Dialect6Cookie_signOut: signing out clears the store and revokes at the server", arguments: Wire.allCases)
        func signOut(wire: Wire) async throws {
            try await Scenario.signOutRevokes(.cookie, over: wire)
        }

        @Test(
            "Dialect6Cookie_placement: the refresh token is in no body, and its cookie is sent to session endpoints",
            arguments: Wire.allCases)
        func placement(wire: Wire) async throws {
            try await App.run(.cookie, over: wire) { app in
                let events = app.tokens.events
                try await app.signUp()
                var tokens = [try #require(await app.stored?.tokens.refreshToken?.reveal())]
                try await app.controls.expireAccessTokens()
                _ = try await app.client.send(Me())
                tokens.append(try #require(await app.stored?.tokens.refreshToken?.reveal()))
                await app.tokens.signOut()
                _ = await events.upTo { $0 == .revoked || $0.isFailedRevocation }

                #expect(Set(tokens).count == 2)
                let withCookie = app.traffic.sent.filter { $0.request.headerFields[.cookie] != nil }
                #expect(withCookie.map(\.path) == ["/auth/refresh", "/auth/logout"])
                #expect(withCookie.allSatisfy { $0.usedIsolatedTransport })
                #expect(withCookie.map { $0.request.headerFields[.cookie] } == tokens.map { "refresh_token=\($0)" })
                let bodies = app.traffic.sent.compactMap(\.body).map { String(decoding: $0, as: UTF8.self) }
                #expect(bodies.allSatisfy { body in !tokens.contains { body.contains($0) } })
            }
        }
    }
}
