#if canImport(CryptoKit) || Encryption
    import Foundation
    import HTTPTypes
    import Martlet
    import MartletStorage
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    @Suite("sign-in with a browser", .timeLimit(.minutes(10))) struct SignInTests {
        private struct Profile: Decodable, Equatable {
            var email: String
        }

        @Test("a sign-in starts a session with the user's tokens") func signIn() async throws {
            let world = World()
            let tokens = world.manager()
            let user = try await world.signIn(to: tokens)
            #expect(user.subject == "ada")
            guard case .signedIn(let session) = tokens.state else {
                Issue.record("no session: \(tokens.state)")
                return
            }
            #expect(session.account.userID == "ada")
            #expect(session.isSaved)
            #expect(tokens.currentTokens?.accessToken == "access-1-of-the-server")
            #expect(tokens.currentTokens?.idToken != nil)
            #expect(
                world.requests == [
                    "GET id.example.com/.well-known/openid-configuration", "POST id.example.com/token",
                    "GET id.example.com/keys",
                ])
        }

        @Test(
            "an element of the scope may be a list of its own",
            arguments: [["openid profile"], ["profile", " openid"]])
        func scopeAsText(_ scope: [String]) async throws {
            let world = World()
            world.change { $0.scope = scope }
            #expect(try await world.signIn(to: world.manager()).subject == "ada")
            #expect(world.parameters["scope"]?.split(separator: " ").sorted() == ["openid", "profile"])
        }

        @Test("a token of each algorithm begins a session", arguments: TestKey.allCases) func algorithms(_ key: TestKey)
            async throws
        {
            let world = World()
            world.change { script in
                script.signer = key
                script.keys = TestKey.allCases.map(\.jwk)
            }
            #expect(try await world.signIn(to: world.manager()).subject == "ada")
        }

        @Test("the request has a challenge, a state and a nonce of 256 bits, new ones each time") func secrets()
            async throws
        {
            let world = World()
            var seen: Set<String> = []
            for round in 1...20 {
                _ = try await world.signIn(to: world.manager())
                let parameters = world.parameters
                #expect(parameters["response_type"] == "code")
                #expect(parameters["client_id"] == "app")
                #expect(parameters["redirect_uri"] == "com.example.app:/callback")
                #expect(parameters["scope"] == "openid")
                #expect(parameters["code_challenge_method"] == "S256")
                let form = AuthorizationResponse.form(world.requests(to: "/token").last?.text ?? "")
                let verifier = try #require(form.first { $0.name == "code_verifier" }?.value)
                for text in [verifier, parameters["state"] ?? "", parameters["nonce"] ?? ""] {
                    #expect(Base64URL.decode(text.utf8)?.count == 32)
                    seen.insert(text)
                }
                #expect(seen.count == round * 3)
            }
        }

        @Test("options become parameters") func options() async throws {
            var script = Script()
            script.metadata["claims_parameter_supported"] = "true"
            script.options.prompt = "login consent"
            script.options.loginHint = "ada@example.com"
            script.options.uiLocales = ["ko", "en"]
            script.options.maxAge = .seconds(600)
            script.options.acr = ["gold"]
            script.options.resources = ["https://api.example.com"]
            script.options.parameters = ["audience": "api"]
            script.edit = { test in
                test.claims["auth_time"] = "1790000000"
                test.claims["acr"] = quoted("gold")
            }
            let world = World(script)
            _ = try await world.signIn(to: world.manager())
            let parameters = world.parameters
            #expect(parameters["prompt"] == "login consent")
            #expect(parameters["login_hint"] == "ada@example.com")
            #expect(parameters["ui_locales"] == "ko en")
            #expect(parameters["max_age"] == "600")
            #expect(parameters["acr_values"] == "gold")
            #expect(parameters["claims"] == #"{"id_token":{"acr":{"essential":true,"values":["gold"]}}}"#)
            #expect(parameters["resource"] == "https://api.example.com")
            #expect(parameters["audience"] == "api")
            let form = world.requests(to: "/token").first?.text ?? ""
            #expect(form.contains("resource=https%3A%2F%2Fapi.example.com"))
        }

        @Test("with a push endpoint, the browser carries only the address of the request") func push() async throws {
            var script = Script()
            script.metadata["pushed_authorization_request_endpoint"] = quoted("https://id.example.com/par")
            script.metadata["require_pushed_authorization_requests"] = "true"
            let world = World(script)
            let attempt = try await world.server.beginSignIn(scope: ["openid"])
            #expect(
                attempt.url.absoluteString
                    == "https://id.example.com/authorize?client_id=app&request_uri=urn%3Apushed%3A1")
            let pushed = AuthorizationResponse.form(world.requests(to: "/par").first?.text ?? "")
            #expect(pushed.filter { $0.name == "client_id" }.map(\.value) == ["app"])
            #expect(
                Set(pushed.map(\.name)).isSuperset(of: ["state", "nonce", "code_challenge", "scope", "redirect_uri"]))
            let user = try await world.server.finish(attempt, callback: world.browse(attempt.url), to: world.manager())
            #expect(user.subject == "ada")
        }

        @Test("userinfo is fetched with the access token if the sign-in asks for it") func userinfo() async throws {
            var script = Script()
            script.options.fetchesUserinfo = true
            script.edit = { $0.claims["email"] = quoted("token@example.com") }
            let world = World(script)
            let user = try await world.signIn(to: world.manager())
            #expect(try user.claims(as: Profile.self) == Profile(email: "token@example.com"))
            #expect(try user.userinfo(as: Profile.self) == Profile(email: "ada@example.com"))
            #expect(world.requests(to: "/userinfo").first?.bearer == "access-1-of-the-server")
            #expect(!"\(user) \(String(reflecting: user))".contains("@example.com"))
        }

        @Test("without openid, the tokens are stored and no ID token") func withoutOpenID() async throws {
            let world = World()
            world.change { $0.scope = ["articles"] }
            let tokens = world.manager()
            let user = try await world.signIn(to: tokens)
            #expect(user.subject == nil)
            #expect(tokens.currentTokens?.accessToken == "access-1-of-the-server")
            #expect(tokens.currentTokens?.idToken == nil)
            #expect(throws: (any Error).self) { try user.claims(as: Profile.self) }
        }

        @Test("an attempt is kept as data, and finished by another process") func twoProcesses() async throws {
            let world = World()
            world.change { $0.redirect = .claimed("https://app.example.com/callback") }
            let data = try JSONEncoder().encode(try await world.server.beginSignIn(scope: ["openid"]))
            let attempt = try JSONDecoder().decode(SignInAttempt.self, from: data)
            let callback = try await world.browse(attempt.url)
            // A web server sees only the path and the query.
            let path = try #require(URL(string: "/callback?" + (callback.query ?? "")))
            let tokens = world.manager()
            #expect(try await world.server.finish(attempt, callback: path, to: tokens).subject == "ada")
            #expect(tokens.currentTokens != nil)
            var dumped = ""
            dump(attempt, to: &dumped)
            let text = "\(attempt) \(String(reflecting: attempt)) \(dumped)"
            for secret in attempt.secrets { #expect(!text.contains(secret.reveal())) }
            #expect(text.contains("https://id.example.com"))
        }

        @Test("an attempt at another server is not finished") func otherServer() async throws {
            let world = World()
            let attempt = try await world.server.beginSignIn(scope: ["openid"])
            let other = OAuthServer(
                issuer: "https://other.example.com", client: OAuthClient(id: "app"),
                redirect: .appScheme("com.example:/"),
                transport: world.transport, time: world.time)
            let error = await #expect(throws: OAuthError.self) {
                try await other.finish(attempt, callback: world.browse(attempt.url), to: world.manager())
            }
            #expect(error?.kind == .wrongIssuer)
            #expect(world.requests(to: "/token").isEmpty)
        }

        @Test("a confidential client authenticates pushed requests and the code exchange", arguments: [false, true])
        func confidentialClient(_ inBody: Bool) async throws {
            var script = Script()
            script.metadata["pushed_authorization_request_endpoint"] = quoted("https://id.example.com/par")
            let world = World(script)
            let server = OAuthServer(
                issuer: world.issuer, client: OAuthClient(id: "app", secret: "s3cret", sendsSecretInBody: inBody),
                redirect: .claimed("https://app.example.com/callback"), transport: world.transport, time: world.time)
            let attempt = try await server.beginSignIn(scope: ["openid"])
            _ = try? await server.finish(attempt, callback: world.browse(attempt.url), to: world.manager())
            for path in ["/par", "/token"] {
                let request = try #require(world.requests(to: path).first)
                let names = AuthorizationResponse.form(request.text).map(\.name)
                #expect(request.headers[.authorization] == (inBody ? nil : "Basic YXBwOnMzY3JldA=="))
                #expect(names.filter { $0 == "client_secret" }.count == (inBody ? 1 : 0))
                #expect(names.filter { $0 == "client_id" }.count == (inBody || path == "/par" ? 1 : 0))
            }
        }

        @Test("a cancelled task sends no code") func cancellation() async throws {
            let world = World()
            let tokens = world.manager()
            world.change { script in
                script.callback = { [unowned world] url in
                    withUnsafeCurrentTask { $0?.cancel() }
                    world.change { $0.callback = nil }
                    return try await world.browse(url)
                }
            }
            let error = await #expect(throws: OAuthError.self) {
                try await Task { try await world.signIn(to: tokens) }.value
            }
            #expect(error?.kind == .cancelled)
            #expect(world.requests(to: "/token").isEmpty)
        }
    }

    @Suite("sign-ins at the same time", .timeLimit(.minutes(10))) struct SimultaneousSignInTests {
        @Test("of a hundred simultaneous sign-ins, one begins a session and the others revoke their tokens")
        func hundred() async throws {
            let world = World()
            let tokens = world.manager()
            await tokens.restore()
            let gate = Gate()
            world.change { script in
                script.callback = { [unowned world] url in
                    await gate.pass()
                    return try await world.browseAgain(url)
                }
            }
            let results = Task {
                await withTaskGroup(of: OAuthError.Kind?.self) { group in
                    for _ in 0..<100 {
                        group.addTask {
                            do throws(OAuthError) {
                                _ = try await world.signIn(to: tokens)
                                return nil
                            } catch {
                                return error.kind
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            await gate.waitForArrivals(100)
            gate.open()
            let kinds = await results.value
            #expect(kinds.filter { $0 == nil }.count == 1)
            #expect(kinds.filter { $0 == .session(.sessionChanged) }.count == 99)
            let kept = try #require(tokens.currentTokens?.refreshToken?.reveal())
            let revoked = await world.revokedTokens(99)
            #expect(Set(revoked).count == 99)
            #expect(!revoked.contains(kept))
            #expect(world.requests(to: "/.well-known/openid-configuration").count == 1)
            #expect(world.requests(to: "/keys").count == 1)
        }

        @Test("a sign-out during the visit to the browser ends the sign-in, whose tokens are revoked") func signOut()
            async throws
        {
            let world = World()
            let tokens = world.manager()
            world.change { script in
                script.callback = { [unowned world] url in
                    await tokens.signOut()
                    return try await world.browseAgain(url)
                }
            }
            let error = await #expect(throws: OAuthError.self) { try await world.signIn(to: tokens) }
            #expect(error?.kind == .session(.sessionChanged))
            #expect(tokens.state == .signedOut)
            #expect(await world.revokedTokens(1) == ["refresh-1-of-the-server"])
            #expect(await world.store.read() == .empty)
        }

        @Test("another sign-in during the visit to the browser wins") func otherSignIn() async throws {
            let world = World()
            let tokens = world.manager()
            world.change { script in
                script.callback = { [unowned world] url in
                    try await tokens.signIn(with: .fresh(3))
                    return try await world.browseAgain(url)
                }
            }
            let error = await #expect(throws: OAuthError.self) { try await world.signIn(to: tokens) }
            #expect(error?.kind == .session(.sessionChanged))
            #expect(tokens.currentTokens?.accessToken == "access-3")
            #expect(await world.revokedTokens(1) == ["refresh-1-of-the-server"])
        }

        @Test("a sign-in replaces the earlier session, whose tokens are revoked") func replacement() async throws {
            let world = World(holding: .fresh(7))
            let tokens = world.manager()
            await tokens.restore()
            _ = try await world.signIn(to: tokens)
            #expect(tokens.currentTokens?.accessToken == "access-1-of-the-server")
            #expect(await world.revokedTokens(1) == ["refresh-7"])
        }
    }
#endif
