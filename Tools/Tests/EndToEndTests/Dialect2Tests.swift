internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Dialect 2: OAuth 2.0", .timeLimit(.minutes(10)))
    struct Dialect2Tests {
        @Test(
            "Dialect2_guest: a guest signs in with a picture, which comes back byte for byte", arguments: Wire.allCases)
        func guest(wire: Wire) async throws {
            try await Scenario.guestSignsIn(.oauth2, over: wire)
        }

        @Test(
            "Dialect2_burst: fifty calls with an expired token make one refresh and all succeed",
            arguments: Wire.allCases)
        func burst(wire: Wire) async throws {
            try await Scenario.burstRefreshesOnce(.oauth2, over: wire)
        }

        @Test("Dialect2_restart: the next start is signed in without a login", arguments: Wire.allCases)
        func restart(wire: Wire) async throws {
            try await Scenario.restartStaysSignedIn(.oauth2, over: wire)
        }

        @Test("Dialect2_revocation: a session that the server ended expires once", arguments: Wire.allCases)
        func revocation(wire: Wire) async throws {
            try await Scenario.revocationExpiresOnce(.oauth2, over: wire)
        }

        @Test("Dialect2_signOut: signing out clears the store and revokes at the server", arguments: Wire.allCases)
        func signOut(wire: Wire) async throws {
            try await Scenario.signOutRevokes(.oauth2, over: wire)
        }

        @Test(
            "Dialect2_spelling: the refresh is sent as a form or as JSON, with each kind of client authentication",
            arguments: Wire.allCases, Dialect2Tests.spellings)
        func spelling(wire: Wire, spelling: Spelling) async throws {
            let setup = Setup.oauth2.with {
                $0.refresher = .oauth2(client: spelling.client, sendsJSON: spelling.sendsJSON)
                $0.revoker = .oauth2(client: spelling.client)
            }
            try await App.run(setup, over: wire, backend: { $0.requireOAuthClient() }) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                #expect(await app.burst(10).successes == 10)
                #expect(app.counters.refreshesCalled == 1)
                let refresh = try #require(app.traffic.sent.first { $0.path == "/oauth/token" })
                #expect(refresh.request.headerFields[.contentType] == spelling.contentType)
                #expect((refresh.request.headerFields[.authorization]?.hasPrefix("Basic ") == true) == spelling.isBasic)
                let events = app.tokens.events
                await app.tokens.signOut()
                #expect(await events.upTo { $0 == .revoked || $0.isFailedRevocation }.last == .revoked)
            }
        }

        @Test(
            "Dialect2_withoutRefresh: a call that allows no refresh gets its 401, and the next one refreshes",
            arguments: Wire.allCases)
        func withoutRefresh(wire: Wire) async throws {
            try await App.run(.oauth2, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                let once = Call<NoContent>(.get, "/me", authentication: .required, allowsRefresh: false)
                await #expect { try await app.client.send(once) } throws: { error in
                    (error as? NetworkError)?.response?.status == 401
                }
                #expect(app.counters.refreshesCalled == 0)
                #expect(try await app.tokens.refresh() == app.tokens.currentTokens)
                try await app.client.send(once)
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test("Dialect2_wrongClient: an unknown client does not end the session", arguments: Wire.allCases)
        func wrongClient(wire: Wire) async throws {
            let stranger = Martlet.OAuthClient(id: "app", secret: "wrong")
            let setup = Setup.oauth2.with { $0.refresher = .oauth2(client: stranger) }
            try await App.run(setup, over: wire, backend: { $0.requireOAuthClient() }) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                guard case .refreshFailed(_, let failure, _) = try await app.failure(of: AnyCall.me) else {
                    return #expect(Bool(false), "the session has ended")
                }
                #expect(failure.kind == .status(401))
                #expect(app.tokens.state.isSignedIn)
            }
        }

        @Test("Dialect2_invalidGrant: invalid_grant ends the session with its reason", arguments: Wire.allCases)
        func invalidGrant(wire: Wire) async throws {
            try await App.run(.oauth2, over: wire) { app in
                try await app.signUp()
                try await app.controls.revokeSessions(includingAccessTokens: true)
                guard case .sessionExpired(_, let reason, let response) = try await app.failure(of: AnyCall.me) else {
                    return #expect(Bool(false), "not expired")
                }
                #expect(reason == .refreshTokenRejected(code: "invalid_grant"))
                #expect(response?.status == 401)
            }
        }

        @Test(
            "Dialect2_login: a password grant starts a session with lifetime, type and scope", arguments: Wire.allCases)
        func passwordGrant(wire: Wire) async throws {
            try await App.run(.oauth2, over: wire) { app in
                try await app.signUp()
                let grant: Query = [
                    "grant_type": "password", "username": "wren@example.org", "password": "correct horse",
                ]
                try await app.client.signIn(AnyCall.post("/oauth/token", .form(grant)), as: NoContent.self)
                let tokens = try #require(await app.stored?.tokens)
                #expect(
                    tokens.lifetime == .seconds(900) && tokens.tokenType == "Bearer" && tokens.scope == "read write")
                _ = try await app.client.send(Me())
            }
        }

        @Test("Dialect2_problem: a problem document becomes a typed error", arguments: Wire.allCases)
        func problem(wire: Wire) async throws {
            try await App.run(.oauth2, over: wire) { app in
                try await app.signUp()
                guard case .api(_, let error) = try await app.failure(of: AnyCall.get("/articles/none")) else {
                    return #expect(Bool(false), "not an API error")
                }
                #expect(error.status == 404 && error.code == "NOT_FOUND")
                #expect(error.message == "There is no resource at this path.")
                #expect(error.requestID?.isEmpty == false)
            }
        }
    }
}

extension EndToEnd.Dialect2Tests {
    /// One encoding of the request to the token endpoint.
    struct Spelling: Sendable, CustomTestStringConvertible {
        let sendsJSON: Bool
        let isBasic: Bool

        var client: Martlet.OAuthClient {
            Martlet.OAuthClient(id: Self.id, secret: Secret(Self.secret), sendsSecretInBody: !isBasic)
        }
        var contentType: String {
            sendsJSON ? "application/json" : "application/x-www-form-urlencoded"
        }
        var testDescription: String { "\(sendsJSON ? "JSON" : "form"), client in the \(isBasic ? "header" : "body")" }

        // Characters that forms escape must arrive unchanged.
        static let id = "app+1"
        static let secret = "s3cret & more:%"
    }

    static let spellings = [false, true].flatMap { sendsJSON in
        [true, false].map { Spelling(sendsJSON: sendsJSON, isBasic: $0) }
    }
}

extension BackendConfiguration {
    fileprivate mutating func requireOAuthClient() {
        oauthClient = .init(
            id: EndToEnd.Dialect2Tests.Spelling.id, secret: EndToEnd.Dialect2Tests.Spelling.secret, isRequired: true)
    }
}
