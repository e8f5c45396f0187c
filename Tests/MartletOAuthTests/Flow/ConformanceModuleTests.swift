#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    /// A module of the OpenID Foundation's plan for clients, as far as it concerns the code flow, with the outcome
    /// here. The names are those of the suite; oauth4webapi lists them in `conformance/modules`.
    struct ConformanceModule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The error; `nil` if the sign-in succeeds.
        let kind: OAuthError.Kind?
        let change: @Sendable (inout Script) -> Void

        init(
            _ name: String, _ kind: OAuthError.Kind? = nil,
            _ change: @escaping @Sendable (inout Script) -> Void = { _ in }
        ) {
            testDescription = name
            self.kind = kind
            self.change = change
        }

        static func token(
            _ name: String, _ check: OAuthError.IDTokenCheck?,
            _ edit: @escaping @Sendable (inout TokenCase) throws -> Void
        ) -> ConformanceModule {
            ConformanceModule(name, check.map { .idToken($0) }) { $0.edit = edit }
        }

        static let negative = [
            ConformanceModule("oidcc-client-test-discovery-issuer-mismatch", .discovery) {
                $0.metadata["issuer"] = quoted("https://id.example.com/INVALID")
            },
            token("oidcc-client-test-invalid-iss", .issuer) { $0.claims["iss"] = quoted("https://evil.example.com") },
            token("oidcc-client-test-missing-sub", .subject) { $0.claims["sub"] = nil },
            token("oidcc-client-test-invalid-aud", .audience) { $0.claims["aud"] = quoted("app1") },
            token("oidcc-client-test-missing-aud", .audience) { $0.claims["aud"] = nil },
            token("oidcc-client-test-missing-iat", .issueTime) { $0.claims["iat"] = nil },
            token("oidcc-client-test-nonce-invalid", .nonce) { $0.claims["nonce"] = quoted("1") },
            // The suite accepts a client that relies on TLS here, and also one that refuses.
            token("oidcc-client-test-idtoken-sig-none", .algorithm) { test in
                let claims = test.claims.text
                test.damage = { _ in
                    Base64URL.encode(#"{"alg":"none"}"#.utf8) + "." + Base64URL.encode(claims.utf8) + "."
                }
            },
            token("oidcc-client-test-invalid-sig-hs256", .algorithm) { $0.header["alg"] = quoted("HS256") },
            token("oidcc-client-test-invalid-sig-es256", .signature) { $0.damage = { $0.dropLast(6) + "AAAAAA" } },
            ConformanceModule("oidcc-client-test-userinfo-invalid-sub", .userinfo) { script in
                script.options.fetchesUserinfo = true
                script.userinfo = "{\"sub\":\"ada1\"}"
            },
            ConformanceModule("oidcc-client-test-kid-absent-multiple-jwks", .idToken(.severalKeys)) { script in
                script.edit = { $0.header["kid"] = nil }
                var other = TestKey.es256.jwk
                other["kid"] = quoted("other")
                script.keys.append(other)
            },
            ConformanceModule(
                "fapi2-security-profile-final-client-test-invalid-authorization-response-iss", .wrongIssuer
            ) {
                $0.editCallback = { $0[2].1 = "https://evil.example.com" }
            },
            ConformanceModule(
                "fapi2-security-profile-final-client-test-remove-authorization-response-iss", .wrongIssuer
            ) {
                $0.editCallback = { $0.remove(at: 2) }
            },
            ConformanceModule(
                "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-state-fails",
                .stateMismatch
            ) { $0.editCallback = { $0[1].1 += "1" } },
            ConformanceModule(
                "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-missing-state-fails",
                .stateMismatch
            ) { $0.editCallback = { $0.remove(at: 1) } },
            token("fapi2-security-profile-final-client-test-invalid-expired-exp", .expiry) {
                $0.claims["exp"] = "1789990000"
            },
            token("fapi2-security-profile-final-client-test-invalid-missing-exp", .expiry) { $0.claims["exp"] = nil },
            token("fapi2-security-profile-final-client-test-invalid-missing-iss", .issuer) { $0.claims["iss"] = nil },
            token("fapi2-security-profile-final-client-test-invalid-missing-nonce", .nonce) {
                $0.claims["nonce"] = nil
            },
            token("fapi2-security-profile-final-client-test-invalid-null-alg", .algorithm) {
                $0.header["alg"] = "null"
            },
            token("fapi2-security-profile-final-client-test-invalid-secondary-aud", .authorizedParty) {
                $0.claims["aud"] = "[\"app\",\"https://other.example.com\"]"
            },
            ConformanceModule("fapi2-security-profile-final-client-test-invalid-alternate-alg", .idToken(.algorithm)) {
                $0.metadata["id_token_signing_alg_values_supported"] = "[\"PS256\"]"
            },
        ]

        static let positive = [
            ConformanceModule("oidcc-client-test"),
            token("oidcc-client-test-kid-absent-single-jwks", nil) { $0.header["kid"] = nil },
            ConformanceModule("oidcc-client-test-scope-userinfo-claims") { script in
                script.scope = ["openid", "email"]
                script.options.fetchesUserinfo = true
            },
            token("fapi2-security-profile-final-client-test-valid-aud-as-array", nil) {
                $0.claims["aud"] = "[\"app\"]"
            },
            ConformanceModule("fapi2-security-profile-final-client-test-token-endpoint-response-without-expires_in") {
                $0.editResponse = { $0["expires_in"] = nil }
            },
            ConformanceModule("fapi2-security-profile-final-client-test-token-type-case-insensitivity") {
                $0.editResponse = { $0["token_type"] = quoted("bEaReR") }
            },
            ConformanceModule("fapi2-security-profile-final-client-test-no-scope-in-token-endpoint-response"),
        ]
    }

    @Suite("modules of the OpenID Foundation's plan", .timeLimit(.minutes(10))) struct ConformanceModuleTests {
        @Test("the sign-in is refused", arguments: ConformanceModule.negative)
        func negative(_ module: ConformanceModule) async throws {
            #expect(try await Refusal(module.change).run().kind == module.kind)
        }

        @Test("the sign-in succeeds", arguments: ConformanceModule.positive)
        func positive(_ module: ConformanceModule) async throws {
            var script = Script()
            module.change(&script)
            let world = World(script)
            #expect(try await world.signIn(to: world.manager()).subject == "ada")
        }

        @Test("oidcc-client-test-signing-key-rotation: a new key is found a minute later") func keyRotation()
            async throws
        {
            let world = World()
            _ = try await world.signIn(to: world.manager())
            world.change { script in
                script.keys = [TestKey.es384.jwk]
                script.signer = .es384
            }
            world.time.advance(by: .seconds(60))
            #expect(try await world.signIn(to: world.manager()).subject == "ada")
            #expect(world.requests(to: "/keys").count == 2)
        }

        @Test("a new key that keeps the name of the old one is found a minute later", arguments: [true, false])
        func keyReplacement(isNamed: Bool) async throws {
            var script = Script()
            script.keys = [TestKey.other]
            if !isNamed {
                script.keys[0]["kid"] = nil
                script.edit = { $0.header["kid"] = nil }
            }
            let world = World(script)
            let error = await #expect(throws: OAuthError.self) { try await world.signIn(to: world.manager()) }
            #expect(error?.kind == .idToken(.signature))
            #expect(world.requests(to: "/keys").count == 1)
            world.change { script in
                script.keys = [TestKey.es256.jwk]
                if !isNamed { script.keys[0]["kid"] = nil }
            }
            world.time.advance(by: .seconds(60))
            #expect(try await world.signIn(to: world.manager()).subject == "ada")
            #expect(world.requests(to: "/keys").count == 2)
        }
    }
#endif
