internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Dialect 3: the refresh token in a header field", .timeLimit(.minutes(10)))
    struct Dialect3Tests {
        @Test(
            "Dialect3_guest: a guest signs in with a picture, which comes back byte for byte", arguments: Wire.allCases)
        func guest(wire: Wire) async throws {
            try await Scenario.guestSignsIn(.header, over: wire)
        }

        @Test(
            "Dialect3_burst: fifty calls with an expired token make one refresh and all succeed",
            arguments: Wire.allCases)
        func burst(wire: Wire) async throws {
            try await Scenario.burstRefreshesOnce(.header, over: wire)
        }

        @Test("Dialect3_restart: the next start is signed in without a login", arguments: Wire.allCases)
        func restart(wire: Wire) async throws {
            try await Scenario.restartStaysSignedIn(.header, over: wire)
        }

        @Test("Dialect3_revocation: a session that the server ended expires once", arguments: Wire.allCases)
        func revocation(wire: Wire) async throws {
            try await Scenario.revocationExpiresOnce(.header, over: wire)
        }

        @Test("Dialect3_signOut: signing out clears the store and revokes at the server", arguments: Wire.allCases)
        func signOut(wire: Wire) async throws {
            try await Scenario.signOutRevokes(.header, over: wire)
        }

        @Test(
            "C60: the refresh token is in the header of the refresh and of no other request",
            arguments: Wire.allCases)
        func headerOnRefreshOnly(wire: Wire) async throws {
            try await App.run(.header, over: wire) { app in
                try await app.signUp()
                let tokens = try #require(await app.stored?.tokens)
                try await app.controls.expireAccessTokens()
                _ = try await app.client.send(Me())

                let withToken = app.traffic.sent.filter { $0.request.headerFields[.init("refresh-token")!] != nil }
                let refresh = try #require(withToken.first)
                #expect(withToken.count == 1)
                #expect(refresh.request.method == .get && refresh.path == "/auth/refresh")
                #expect(refresh.usedIsolatedTransport)
                #expect(refresh.request.headerFields[.init("refresh-token")!] == tokens.refreshToken?.reveal())
                #expect(refresh.request.headerFields[.authorization] == "Bearer \(tokens.accessToken.reveal())")
            }
        }

        @Test(
            "Dialect3_scheme: the access token has the field and the scheme that the server expects",
            arguments: Wire.allCases)
        func otherScheme(wire: Wire) async throws {
            let name = try #require(HTTPField.Name("X-Access-Token"))
            let scheme = AuthenticationScheme(header: name, prefix: nil)
            let setup = Setup.header.with {
                $0.scheme = scheme
                $0.refresher = .header(path: "/auth/refresh", accessTokenScheme: scheme)
                $0.revoker = TokenRevoker(
                    path: "/auth/logout", placement: .json(field: "refreshToken"), accessTokenScheme: scheme)
            }
            let header = AccessTokenHeader(name: "X-Access-Token", scheme: nil)
            try await App.run(setup, over: wire, backend: { $0.accessTokenHeader = header }) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                #expect(await app.burst(10).successes == 10)
                #expect(app.counters.refreshesCalled == 1)
                #expect(app.traffic.sent.allSatisfy { $0.request.headerFields[.authorization] == nil })
            }
        }

        @Test("Dialect3_signedOut: without a session, requests are sent unchanged", arguments: Wire.allCases)
        func signedOut(wire: Wire) async throws {
            try await App.run(.header, over: wire) { app in
                let ping: Ping = try await app.client.send(AnyCall.get("/public/ping"))
                #expect(ping.pong && !ping.authorizationSeen)
            }
        }
    }
}
