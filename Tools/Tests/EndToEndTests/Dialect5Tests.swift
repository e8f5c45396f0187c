internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Dialect 5: reissue", .timeLimit(.minutes(10)))
    struct Dialect5Tests {
        @Test(
            "Dialect5_guest: a guest signs in with a picture, which comes back byte for byte", arguments: Wire.allCases)
        func guest(wire: Wire) async throws {
            try await Scenario.guestSignsIn(.reissue, over: wire)
        }

        @Test(
            "Dialect5_burst: fifty calls with an expired token make one refresh and all succeed",
            arguments: Wire.allCases)
        func burst(wire: Wire) async throws {
            try await Scenario.burstRefreshesOnce(.reissue, over: wire)
        }

        @Test("Dialect5_restart: the next start is signed in without a login", arguments: Wire.allCases)
        func restart(wire: Wire) async throws {
            try await Scenario.restartStaysSignedIn(.reissue, over: wire)
        }

        @Test("Dialect5_revocation: a session that the server ended expires once", arguments: Wire.allCases)
        func revocation(wire: Wire) async throws {
            try await Scenario.revocationExpiresOnce(.reissue, over: wire)
        }

        @Test("Dialect5_signOut: signing out clears the store and revokes at the server", arguments: Wire.allCases)
        func signOut(wire: Wire) async throws {
            try await Scenario.signOutRevokes(.reissue, over: wire)
        }

        @Test(
            "C61: a reissue that returns 401 ends the session after one call, which carries no access token",
            arguments: Wire.allCases)
        func reissueRefused(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                app.controls.inject("POST /auth/reissue", .respond(.init(401)), times: nil)

                let results = await app.burst(10)

                #expect(results.errors.count == 10)
                #expect(results.errors.allSatisfy { if case .sessionExpired = $0 { true } else { false } })
                let reissues = app.traffic.sent.filter { $0.path == "/auth/reissue" }
                #expect(reissues.count == 1)
                #expect(reissues.allSatisfy { $0.request.headerFields[.authorization] == nil })
            }
        }

        @Test("Dialect5_login: a user without tokens signs in with a password", arguments: Wire.allCases)
        func login(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                await app.tokens.signOut()
                let start = try app.restarted()
                #expect(await start.tokens.restore() == .signedOut)
                try await start.client.signIn(
                    AnyCall.post("/auth/login", .json(["email": "wren@example.org", "password": "correct horse"])),
                    as: NoContent.self)
                _ = try await start.client.send(Me())
            }
        }
    }
}
