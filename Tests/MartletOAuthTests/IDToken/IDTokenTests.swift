#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletTesting
    import Testing

    #if !canImport(CryptoKit)
        import CryptoExtras
    #endif

    @testable import MartletOAuth

    /// A token, the keys of its server, and the rules for it.
    struct TokenCase: Sendable {
        var header: RawObject = ["alg": quoted("ES256"), "kid": quoted("key-ES256"), "typ": quoted("JWT")]
        var claims: RawObject
        var key = TestKey.es256
        var keys: [RawObject] = [TestKey.es256.jwk]
        var rules: IDTokenRules
        /// Changes the signed token.
        var damage: @Sendable (String) -> String = { $0 }

        static let now = Date(timeIntervalSince1970: 1_790_000_000)

        init() {
            rules = IDTokenRules(
                issuer: "https://id.example.com", clientID: "app", nonce: "n-1", accessToken: "access-1", now: Self.now)
            claims = [
                "iss": quoted("https://id.example.com"), "sub": quoted("ada"), "aud": quoted("app"),
                "exp": "1790000300", "iat": "1790000000", "nonce": quoted("n-1"),
            ]
        }

        init(signedBy key: TestKey) {
            self.init()
            self.key = key
            header["alg"] = quoted(key.rawValue)
            header["kid"] = quoted("key-\(key.rawValue)")
            keys = [key.jwk]
        }

        func token() throws -> String { damage(try key.sign(header.text, claims.text)) }

        /// Verifies the token like a sign-in, without a request for keys.
        func verify() throws -> IDTokenRules.Identity {
            let token = try SignedToken(try token())
            try rules.checkAlgorithm(of: token)
            let set = try KeySet(Data(keySet(keys).utf8))
            guard let key = try set.key(for: token) else { throw FailedCheck(.key) }
            return try rules.verify(token, with: key)
        }

        func failedCheck() -> OAuthError.IDTokenCheck? {
            do {
                _ = try verify()
                return nil
            } catch let error as FailedCheck {
                return error.check
            } catch {
                Issue.record(error)
                return nil
            }
        }
    }

    @Suite("ID tokens", .timeLimit(.minutes(10))) struct IDTokenTests {
        @Test("a token of each algorithm is verified", arguments: TestKey.allCases) func algorithms(_ key: TestKey)
            throws
        {
            let found = try TokenCase(signedBy: key).verify()
            #expect(found.subject == "ada")
            #expect(found.audience == ["app"])
        }

        @Test("the hash of the access token is that of the algorithm", arguments: TestKey.allCases)
        func accessTokenHash(_ key: TestKey) throws {
            var good = TokenCase(signedBy: key)
            let half = try #require(key.algorithm).halfDigest(of: "access-1")
            good.claims["at_hash"] = TestKey.number(half)
            #expect(good.failedCheck() == nil)
            for wrong in [TestKey.number(half.dropLast()), TestKey.number(Data(half.reversed())), "1", quoted("")] {
                var bad = good
                bad.claims["at_hash"] = wrong
                #expect(bad.failedCheck() == .accessTokenHash)
            }
        }

        @Test(
            "for EdDSA, and for nothing else, the hash may be SHA-256 instead of SHA-512", arguments: TestKey.allCases)
        func otherAccessTokenHash(_ key: TestKey) throws {
            let algorithm = try #require(key.algorithm)
            for other in SigningAlgorithm.allCases {
                var test = TokenCase(signedBy: key)
                test.claims["at_hash"] = TestKey.number(other.halfDigest(of: "access-1"))
                let size = other.halfDigest(of: "access-1").count
                let sizes = algorithm == .edDSA ? [32, 16] : [algorithm.halfDigest(of: "access-1").count]
                #expect(test.failedCheck() == (sizes.contains(size) ? nil : .accessTokenHash))
            }
        }

        @Test("the hash of the specification's example is found") func exampleOfTheSpecification() {
            // OpenID Connect Core 1.0, appendix A.3, an ID token signed with RS256 beside this access token.
            let half = SigningAlgorithm.rs256.halfDigest(of: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y")
            #expect(Base64URL.encode(half) == "77QmUPtjPfzWtF2AnpK9RQ")
        }

        @Test("every bit of the signature counts", arguments: TestKey.allCases) func signatureBits(_ key: TestKey)
            throws
        {
            let whole = try TokenCase(signedBy: key).token()
            let parts = whole.split(separator: ".").map(String.init)
            let signature = try #require(Base64URL.decode(parts[2].utf8))
            for index in stride(from: 0, to: signature.count, by: 7) {
                var other = signature
                other[index] ^= 1 << UInt8(index % 8)
                var damaged = TokenCase(signedBy: key)
                let text = parts[0] + "." + parts[1] + "." + Base64URL.encode(other)
                damaged.damage = { _ in text }
                #expect(damaged.failedCheck() == .signature)
            }
            let zeros = [UInt8](repeating: 0, count: signature.count)
            for other in [Array(signature.dropLast()), signature + [0], [0] + signature, [], zeros] {
                var damaged = TokenCase(signedBy: key)
                let text = parts[0] + "." + parts[1] + "." + Base64URL.encode(other)
                damaged.damage = { _ in text }
                #expect(damaged.failedCheck() == .signature)
            }
        }

        @Test("times have a leeway of a minute and not a second more") func leeway() {
            func check(_ name: String, _ json: String) -> OAuthError.IDTokenCheck? {
                var test = TokenCase()
                test.claims[name] = json
                return test.failedCheck()
            }
            #expect(check("exp", "1789999941") == nil)
            #expect(check("exp", "1789999940") == .expiry)
            #expect(check("exp", "1789999940.5") == nil)
            #expect(check("iat", "1790000060") == nil)
            #expect(check("iat", "1790000061") == .issueTime)
            #expect(check("iat", "1789390000") == nil)
            #expect(check("nbf", "1790000060") == nil)
            #expect(check("nbf", "1790000061") == .notBefore)
            #expect(check("exp", "1e300") == nil)
        }

        @Test("the time of authentication is checked if it is limited") func authenticationTime() {
            var test = TokenCase()
            test.claims["auth_time"] = "1789999600"
            test.rules.maxAge = .seconds(340)
            #expect(test.failedCheck() == nil)
            test.rules.maxAge = .seconds(339)
            #expect(test.failedCheck() == .authenticationTime)
            test.claims["auth_time"] = nil
            #expect(test.failedCheck() == .authenticationTime)
            test.rules.maxAge = nil
            #expect(test.failedCheck() == nil)
        }

        @Test("several audiences are accepted if azp names the client") func audiences() throws {
            var test = TokenCase()
            test.claims["aud"] = "[\"other\",\"app\"]"
            test.claims["azp"] = quoted("app")
            #expect(try test.verify().audience == ["other", "app"])
            test.claims["aud"] = "[\"app\"]"
            test.claims["azp"] = nil
            #expect(test.failedCheck() == nil)
        }

        @Test("a lone key without a name, a use or an algorithm is accepted", arguments: TestKey.allCases)
        func namelessKey(_ key: TestKey) {
            var test = TokenCase(signedBy: key)
            for name in ["kid", "use", "alg"] { test.keys[0][name] = nil }
            test.header["kid"] = nil
            #expect(test.failedCheck() == nil)
        }

        @Test("keys for other purposes are ignored") func otherKeys() {
            var test = TokenCase()
            var encryption = TestKey.es256.jwk
            encryption["use"] = quoted("enc")
            var signing = TestKey.es256.jwk
            signing["key_ops"] = "[\"sign\"]"
            let secret: RawObject = ["kty": quoted("oct"), "k": quoted("AAAA"), "kid": quoted("key-ES256")]
            let broken: RawObject = [
                "kty": quoted("EC"), "crv": quoted("P-256"), "x": quoted("AA"), "kid": quoted("key-ES256"),
            ]
            test.keys += [encryption, signing, secret, broken, TestKey.es384.jwk, TestKey.edDSA.jwk, [:]]
            #expect(test.failedCheck() == nil)
        }

        @Test("a key that is not a point on its curve verifies nothing") func pointOffTheCurve() throws {
            var test = TokenCase()
            test.keys[0]["y"] = TestKey.number(Data(repeating: 1, count: 32))
            #expect(test.failedCheck() == .signature)
        }

        #if !canImport(CryptoKit)
            @Test("the DER of an RSA key equals that of another encoder") func derOfRSA() throws {
                let key = TestKey.rsa.publicKey
                let numbers = try key.getKeyPrimitives()
                let document = RSAPublicKeyDocument.make(modulus: numbers.modulus, exponent: numbers.publicExponent)
                #expect(document == key.pkcs1DERRepresentation)
            }

            @Test("an RSA key below 2048 bits is refused, and one that is no key") func weakKeys() throws {
                var test = TokenCase(signedBy: .rs256)
                test.keys[0]["n"] = TestKey.jwk(of: TestKey.makeRSA(1024).publicKey)["n"]
                #expect(test.failedCheck() == .weakKey)
                test = TokenCase(signedBy: .rs256)
                for exponent in ["AQ", "Ag", "AQAAAAE", "AAAB"] {
                    test.keys[0]["e"] = quoted(exponent)
                    #expect(test.failedCheck() == .weakKey, "\(exponent)")
                }
                let modulus = try TestKey.rsa.publicKey.getKeyPrimitives().modulus
                test = TokenCase(signedBy: .rs256)
                test.keys[0]["n"] = TestKey.number(Data([0, 0]) + modulus)
                #expect(test.failedCheck() == nil, "zeros in front do not make a key larger or smaller")
                test.keys[0]["n"] = TestKey.number(modulus.dropLast() + [modulus[255] & 0xFE])
                #expect(test.failedCheck() == .weakKey)
                test.keys[0]["n"] = TestKey.number(Data([1]) + Data(repeating: 0, count: 1024) + modulus)
                #expect(test.failedCheck() == .weakKey, "a larger key only costs time")
            }

            @Test("a PS256 signature is no RS256 signature, and the other way around") func paddings() {
                for (key, other) in [(TestKey.rs256, TestKey.ps256), (.ps256, .rs256)] {
                    var test = TokenCase(signedBy: key)
                    test.keys[0]["alg"] = nil
                    test.header["alg"] = quoted(other.rawValue)
                    #expect(test.failedCheck() == .signature)
                }
            }
        #endif

        @Test("a server that lists its algorithms uses no other one") func listedAlgorithms() {
            var test = TokenCase()
            test.rules.algorithms = ["RS256", "none"]
            #expect(test.failedCheck() == .algorithm)
            test.rules.algorithms = ["ES256"]
            #expect(test.failedCheck() == nil)
        }
    }
#endif
