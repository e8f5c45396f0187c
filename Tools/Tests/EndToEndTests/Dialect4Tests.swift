internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Dialect 4: 419, and an access token only", .timeLimit(.minutes(10)))
    struct Dialect4Tests {
        @Test(
            "Dialect4_guest: a guest signs in with a picture, which comes back byte for byte", arguments: Wire.allCases)
        func guest(wire: Wire) async throws {
            try await Scenario.guestSignsIn(.legacy419, over: wire)
        }

        @Test(
            "Dialect4_burst: fifty calls with an expired token make one refresh and all succeed",
            arguments: Wire.allCases)
        func burst(wire: Wire) async throws {
            try await Scenario.burstRefreshesOnce(.legacy419, over: wire)
        }

        @Test("Dialect4_restart: the next start is signed in without a login", arguments: Wire.allCases)
        func restart(wire: Wire) async throws {
            try await Scenario.restartStaysSignedIn(.legacy419, over: wire)
        }

        @Test("Dialect4_revocation: a session that the server ended expires once", arguments: Wire.allCases)
        func revocation(wire: Wire) async throws {
            try await Scenario.revocationExpiresOnce(.legacy419, over: wire)
        }

        @Test("Dialect4_signOut: signing out clears the store and revokes at the server", arguments: Wire.allCases)
        func signOut(wire: Wire) async throws {
            try await Scenario.signOutRevokes(.legacy419, over: wire)
        }

        @Test("C58: if 419 means expired, a 401 does not start a refresh", arguments: Wire.allCases)
        func unauthorizedIsLeftAlone(wire: Wire) async throws {
            try await App.run(.legacy419, over: wire) { app in
                try await app.signUp()
                app.controls.inject("GET /me", .respond(.init(401)))
                guard case .unauthorized(_, let response) = try await app.failure(of: AnyCall.me) else {
                    return #expect(Bool(false), "not the server's 401")
                }
                #expect(response.status == 401)
                #expect(app.counters.refreshesCalled == 0 && app.counters["GET /me"] == 1)
                #expect(app.tokens.state.isSignedIn)
            }
        }

        @Test("C59: the same refresh token is sent with every refresh", arguments: Wire.allCases)
        func refreshTokenStays(wire: Wire) async throws {
            try await App.run(.legacy419, over: wire) { app in
                try await app.signUp()
                let before = try #require(await app.stored?.tokens)
                for rotation in 1...3 {
                    try await app.controls.expireAccessTokens()
                    _ = try await app.client.send(Me())
                    let stored = try #require(await app.stored)
                    #expect(stored.stamp.rotation == rotation && stored.tokens.refreshToken == before.refreshToken)
                }
                #expect(app.counters.refreshesSucceeded == 3)
            }
        }
    }
}
