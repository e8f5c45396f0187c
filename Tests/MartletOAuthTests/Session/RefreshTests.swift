#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletStorage
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    @Suite("refresh at the discovered endpoint", .timeLimit(.minutes(10))) struct RefreshTests {
        /// A world whose user has signed in.
        private func signedIn(_ script: Script = Script()) async throws -> (world: World, tokens: TokenManager) {
            let world = World(script)
            let tokens = world.manager()
            _ = try await world.signIn(to: tokens)
            return (world, tokens)
        }

        @Test("a refresh goes to the token endpoint with the client's authentication") func refresh() async throws {
            let (world, tokens) = try await signedIn()
            let first = tokens.currentTokens?.idToken
            world.change { script in script.edit = { $0.claims["iat"] = "1789999999" } }
            try await tokens.refresh()
            #expect(tokens.currentTokens?.accessToken == "access-50-of-the-server")
            let request = try #require(world.requests(to: "/token").last)
            #expect(request.request.authority == "id.example.com")
            #expect(request.headers[.authorization] == nil)
            let form = Dictionary(
                uniqueKeysWithValues: AuthorizationResponse.form(request.text).map { ($0.name, $0.value) })
            #expect(
                form == [
                    "grant_type": "refresh_token", "refresh_token": "refresh-1-of-the-server", "client_id": "app",
                ])
            #expect(tokens.currentTokens?.idToken != first, "the new ID token is kept")
        }

        @Test("a refused refresh token ends the session, also with the 403 of Auth0", arguments: [400, 401, 403])
        func refused(_ status: Int) async throws {
            let (world, tokens) = try await signedIn()
            world.change { $0.tokenResponse = .json("{\"error\":\"invalid_grant\"}", status: status) }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            #expect(tokens.state == .expired(.refreshTokenRejected(code: "invalid_grant")))
        }

        @Test("the API's token never goes to the server, and the server's requests never to the API") func origins()
            async throws
        {
            let (world, tokens) = try await signedIn()
            try await tokens.refresh()
            await tokens.signOut(waitingForServer: .seconds(5))
            #expect(world.transport.requests.allSatisfy { $0.request.authority == "id.example.com" })
            #expect(world.transport.requests.allSatisfy { $0.bearer == nil })
            #expect(await world.revokedTokens(1) == ["refresh-50-of-the-server"])
        }

        @Test(
            "a discovery that fails during a refresh is transient and spends no token",
            arguments: [
                StubTransport.Response.failure(.offline), .status(503), .json("{}"), .failure(.connectionLost("reset")),
            ])
        func discoveryFails(_ response: StubTransport.Response) async throws {
            var script = Script()
            script.metadataResponse = response
            let world = World(script, holding: .fresh(7))
            let tokens = world.manager()
            await tokens.restore()
            let error = await #expect(throws: SessionError.self) { try await tokens.refresh() }
            guard case .refreshFailed(let failure) = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            #expect(!failure.mayHaveSpentToken)
            #expect(world.requests(to: "/token").isEmpty)
            #expect(tokens.currentTokens?.refreshToken == "refresh-7")
            await tokens.finishPendingWork()
            guard case .found(let record) = await world.store.read() else {
                Issue.record("the session has gone")
                return
            }
            #expect(!record.hasRefreshJournal)
            // The next refresh discovers the server, and works.
            world.change { $0.metadataResponse = nil }
            world.time.advance(by: .seconds(3600))
            _ = try await tokens.validTokens()
            #expect(tokens.currentTokens?.accessToken == "access-50-of-the-server")
        }

        @Test(
            "a discovery that hangs during a refresh is given up before the refresh is, and spends no token",
            arguments: [0, 30])
        func discoveryHangs(rotationGrace: Int) async throws {
            let world = World(holding: .fresh(7))
            let gate = Gate()
            world.change { $0.metadataGate = gate }
            let tokens = world.manager(SessionPolicy(rotationGrace: .seconds(rotationGrace)))
            await tokens.restore()
            let refresh = Task { try await tokens.refresh() }
            await gate.waitForArrivals()
            world.time.advance(by: OAuthRefresher.discoveryTimeout)
            let error = await #expect(throws: SessionError.self) { try await refresh.value }
            guard case .refreshFailed(let failure) = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            #expect(failure.kind == .timedOut && !failure.mayHaveSpentToken)
            #expect(world.requests(to: "/token").isEmpty)
            gate.open()
        }

        @Test("if fetching the keys hangs during a refresh, only the new ID token is dropped")
        func keysHang() async throws {
            let (world, tokens) = try await signedIn()
            let first = try #require(tokens.currentTokens?.idToken)
            world.time.advance(by: KeyStore.lifetime)
            let gate = Gate()
            world.change { $0.keysGate = gate }
            let refresh = Task { try await tokens.refresh() }
            await gate.waitForArrivals()
            world.time.advance(by: OAuthRefresher.discoveryTimeout)
            _ = try await refresh.value
            #expect(tokens.currentTokens?.accessToken == "access-50-of-the-server")
            #expect(tokens.currentTokens?.idToken == first)
            gate.open()
        }

        @Test("a refused refresh token ends the session") func refused() async throws {
            let (world, tokens) = try await signedIn()
            world.change { $0.tokenResponse = .json("{\"error\":\"invalid_grant\"}", status: 400) }
            await #expect(throws: SessionError.expired(.refreshTokenRejected(code: "invalid_grant"))) {
                try await tokens.refresh()
            }
        }

        @Test(
            "an ID token of another user, server, audience or sign-in keeps the new tokens from being used",
            arguments: [
                ("sub", quoted("eve")), ("iss", quoted("https://evil.example.com")), ("aud", quoted("other")),
                ("nonce", quoted("other")),
            ])
        func otherUser(_ claim: String, _ json: String) async throws {
            let (world, tokens) = try await signedIn()
            world.change { script in script.edit = { $0.claims[claim] = json } }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            #expect(tokens.state == .expired(.refreshTokenRejected(code: "invalid_id_token")))
            // The token that was replaced is not sent again.
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            #expect(await world.revokedTokens(1) == ["refresh-50-of-the-server"])
        }

        @Test("an ID token with the nonce of the sign-in is kept, also after one without a nonce") func sameNonce()
            async throws
        {
            let (world, tokens) = try await signedIn()
            let nonce = try #require(world.parameters["nonce"])
            world.change { script in script.edit = { $0.claims["nonce"] = quoted(nonce) } }
            try await tokens.refresh()
            world.change { script in script.edit = { _ in } }
            try await tokens.refresh()
            let without = tokens.currentTokens?.idToken
            world.change { script in script.edit = { $0.claims["nonce"] = quoted(nonce) } }
            try await tokens.refresh()
            #expect(tokens.currentTokens?.idToken != without)
        }

        @Test("tokens of a type other than Bearer are not used after a refresh", arguments: ["DPoP", "mac"])
        func tokenType(_ type: String) async throws {
            let (world, tokens) = try await signedIn()
            world.change { script in script.editResponse = { $0["token_type"] = quoted(type) } }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            #expect(tokens.state == .expired(.refreshTokenRejected(code: "unsupported_token_type")))
            #expect(await world.revokedTokens(1) == ["refresh-50-of-the-server"])
        }

        @Test("a refresh may omit the type of the token, and spell it in any case", arguments: [nil, "bearer"])
        func bearer(_ type: String?) async throws {
            let (world, tokens) = try await signedIn()
            world.change { script in script.editResponse = { $0["token_type"] = type.map(quoted) } }
            try await tokens.refresh()
            #expect(tokens.currentTokens?.accessToken == "access-50-of-the-server")
        }

        @Test("an audience that has lost a member is refused, and one that has grown is not") func audiences()
            async throws
        {
            var script = Script()
            script.edit = { test in
                test.claims["aud"] = "[\"app\",\"api\"]"
                test.claims["azp"] = quoted("app")
            }
            let (world, tokens) = try await signedIn(script)
            world.change { script in script.edit = { $0.claims["aud"] = quoted("app") } }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            #expect(tokens.state == .expired(.refreshTokenRejected(code: "invalid_id_token")))
            let (other, others) = try await signedIn()
            other.change { script in
                script.edit = { test in
                    test.claims["aud"] = "[\"app\",\"api\"]"
                    test.claims["azp"] = quoted("app")
                }
            }
            try await others.refresh()
            #expect(others.currentTokens?.accessToken == "access-50-of-the-server")
        }

        @Test("a wrong signature keeps the new tokens from being used") func signature() async throws {
            let (world, tokens) = try await signedIn()
            world.change { script in
                script.edit = { $0.damage = { $0.dropLast(4) + "AAAA" } }
            }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            #expect(tokens.state == .expired(.refreshTokenRejected(code: "invalid_id_token")))
        }

        @Test("an ID token that cannot be verified now is replaced by the earlier one, and no other token is lost")
        func keysAreDown() async throws {
            let (world, tokens) = try await signedIn()
            let first = try #require(tokens.currentTokens?.idToken)
            world.time.advance(by: KeyStore.lifetime)
            world.change { $0.keysResponse = .status(503) }
            try await tokens.refresh()
            #expect(tokens.currentTokens?.accessToken == "access-50-of-the-server")
            #expect(tokens.currentTokens?.idToken == first)
            world.change { script in
                script.keysResponse = nil
                script.edit = { $0.claims["exp"] = "1" }
            }
            try await tokens.refresh()
            #expect(tokens.currentTokens?.idToken == first)
        }

        @Test(
            "an ID token of another user or server is refused, even if its algorithm is not supported",
            arguments: ["none", "HS256", "ES512"], ["sub", "iss"])
        func unsupportedAlgorithm(_ algorithm: String, _ claim: String) async throws {
            let (world, tokens) = try await signedIn()
            world.change { script in
                script.edit = { test in
                    test.header["alg"] = quoted(algorithm)
                    test.claims[claim] = quoted("https://other.example.com")
                }
            }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            #expect(tokens.state == .expired(.refreshTokenRejected(code: "invalid_id_token")))
        }

        @Test(
            "a server that now signs differently loses no session",
            arguments: ["algorithm", "unsupported", "keys", "nonce"])
        func signsOtherwise(_ change: String) async throws {
            var script = Script()
            script.metadata["id_token_signing_alg_values_supported"] = "[\"ES256\"]"
            let (world, tokens) = try await signedIn(script)
            let first = try #require(tokens.currentTokens?.idToken)
            world.time.advance(by: KeyStore.lifetime)
            world.change { script in
                switch change {
                case "algorithm":
                    script.keys = [TestKey.es384.jwk]
                    script.signer = .es384
                case "unsupported": script.edit = { $0.header["alg"] = quoted("HS256") }
                case "keys":
                    var other = TestKey.es256.jwk
                    other["kid"] = nil
                    script.keys = [other, other]
                    script.edit = { $0.header["kid"] = nil }
                default: script.edit = { $0.claims["nonce"] = "null" }
                }
            }
            try await tokens.refresh()
            #expect(tokens.currentTokens?.accessToken == "access-50-of-the-server")
            if change != "nonce" { #expect(tokens.currentTokens?.idToken == first) }
        }

        @Test("a refresh without an ID token keeps that of the sign-in") func withoutIDToken() async throws {
            let (world, tokens) = try await signedIn()
            let first = try #require(tokens.currentTokens?.idToken)
            world.change { $0.editResponse = { $0["id_token"] = nil } }
            try await tokens.refresh()
            #expect(tokens.currentTokens?.idToken == first)
        }

        @Test(
            "a revocation that the server refuses for good is sent once, and one that it may accept later is repeated",
            arguments: [(400, 1), (401, 1), (403, 1), (429, 6), (503, 6)])
        func refusedRevocation(_ status: Int, _ requests: Int) async throws {
            let (world, tokens) = try await signedIn()
            world.change { $0.revokeResponse = .json("{\"error\":\"invalid_client\"}", status: status) }
            _ = try await world.time.advance(by: .seconds(1)) {
                await tokens.signOut(waitingForServer: .seconds(86_400))
            }
            #expect(world.requests(to: "/revoke").count == requests)
        }

        @Test("a server without a revocation endpoint is not asked, and the sign-out says that nothing was revoked")
        func noRevocation() async throws {
            var script = Script()
            script.metadata["revocation_endpoint"] = nil
            let (world, tokens) = try await signedIn(script)
            #expect(await tokens.signOut(waitingForServer: .seconds(5)) == false)
            #expect(world.requests(to: "/revoke").isEmpty)
            #expect(await world.store.read() == .empty)
        }
    }

    @Suite("sign-out in the browser", .timeLimit(.minutes(10))) struct SignOutTests {
        @Test("the browser is signed out with the ID token as a hint, after the session here") func signOut()
            async throws
        {
            let world = World()
            let tokens = world.manager()
            _ = try await world.signIn(to: tokens)
            let idToken = try #require(tokens.currentTokens?.idToken?.reveal())
            try await world.server.signOut(of: tokens) { url in
                #expect(tokens.state == .signedOut)
                let parts = url.absoluteString.split(separator: "?", maxSplits: 1)
                #expect(parts.first == "https://id.example.com/logout")
                let fields = Dictionary(
                    uniqueKeysWithValues: AuthorizationResponse.form(parts.last ?? "").map { ($0.name, $0.value) })
                #expect(fields["id_token_hint"] == idToken)
                #expect(fields["client_id"] == "app")
                #expect(fields["post_logout_redirect_uri"] == "com.example.app:/callback")
                return try #require(URL(string: "com.example.app:/callback?state=\(fields["state"] ?? "")"))
            }
            #expect(await world.revokedTokens(1) == ["refresh-1-of-the-server"])
            #expect(await world.store.read() == .empty)
        }

        @Test("the hint is that of the session, even if the store had not been read") func unread() async throws {
            let world = World()
            _ = try await world.signIn(to: world.manager())
            guard case .found(let record) = await world.store.read() else {
                Issue.record("no session was stored")
                return
            }
            let tokens = world.manager()
            try await world.server.signOut(of: tokens) { url in
                let fields = Dictionary(
                    uniqueKeysWithValues: AuthorizationResponse.form(url.query() ?? "").map { ($0.name, $0.value) })
                #expect(fields["id_token_hint"] == record.tokens.idToken?.reveal())
                return try #require(URL(string: "com.example.app:/callback?state=\(fields["state"] ?? "")"))
            }
            #expect(tokens.state == .signedOut)
            #expect(await world.store.read() == .empty)
        }

        @Test("the session here ends, whatever the browser does") func failures() async throws {
            let cases: [(OAuthError.Kind, @Sendable (inout Script) -> Void, @Sendable (URL) async throws -> URL)] = [
                (.unsupported, { $0.metadata["end_session_endpoint"] = nil }, { $0 }),
                (.cancelled, { _ in }, { _ in throw CancellationError() }),
                (.stateMismatch, { _ in }, { url in url }),
            ]
            for (kind, change, browser) in cases {
                var script = Script()
                change(&script)
                let world = World(script)
                let tokens = world.manager()
                _ = try await world.signIn(to: tokens)
                let error = await #expect(throws: OAuthError.self) {
                    try await world.server.signOut(of: tokens) { url in
                        kind == .stateMismatch ? URL(filePath: "/callback") : try await browser(url)
                    }
                }
                #expect(error?.kind == kind)
                #expect(tokens.state == .signedOut)
                #expect(await world.store.read() == .empty)
            }
        }
    }
#endif
