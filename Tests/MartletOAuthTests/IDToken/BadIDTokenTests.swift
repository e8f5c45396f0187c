#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import Testing

    @testable import MartletOAuth

    /// A bad ID token, and the check that it fails.
    struct BadToken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let check: OAuthError.IDTokenCheck
        /// Changes a good token.
        let change: @Sendable (inout TokenCase) throws -> Void

        init(
            _ description: String, _ check: OAuthError.IDTokenCheck,
            _ change: @escaping @Sendable (inout TokenCase) throws -> Void
        ) {
            testDescription = description
            self.check = check
            self.change = change
        }

        /// A token with another value of a claim; `nil` to leave it out.
        static func claim(_ name: String, _ json: String?, _ check: OAuthError.IDTokenCheck) -> BadToken {
            BadToken("\(name) is \(json ?? "missing")", check) { $0.claims[name] = json }
        }

        static func header(_ name: String, _ json: String?, _ check: OAuthError.IDTokenCheck) -> BadToken {
            BadToken("\(name) of the header is \(json ?? "missing")", check) { $0.header[name] = json }
        }

        static func text(
            _ description: String, _ check: OAuthError.IDTokenCheck, _ damage: @escaping @Sendable (String) -> String
        ) -> BadToken {
            BadToken(description, check) { $0.damage = damage }
        }

        static let all = claims + headers + texts + keys

        static let claims = [
            claim("iss", nil, .issuer), claim("iss", quoted("https://other.example.com"), .issuer),
            claim("iss", quoted("https://id.example.com/"), .issuer), claim("iss", "7", .issuer),
            claim("iss", "[\"https://id.example.com\"]", .issuer),
            claim("iss", quoted("HTTPS://id.example.com"), .issuer),
            claim("sub", nil, .subject), claim("sub", quoted(""), .subject), claim("sub", "1", .subject),
            claim("sub", quoted(String(repeating: "a", count: 256)), .subject),
            claim("aud", nil, .audience), claim("aud", quoted("other"), .audience), claim("aud", "[]", .audience),
            claim("aud", "[\"other\"]", .audience), claim("aud", "[1]", .audience),
            claim("aud", "{\"app\":1}", .audience),
            claim("aud", quoted("APP"), .audience), claim("aud", "[\"app\",\"other\"]", .authorizedParty),
            claim("azp", quoted("other"), .authorizedParty), claim("azp", "null", .authorizedParty),
            claim("exp", nil, .expiry), claim("exp", "1789999900", .expiry),
            claim("exp", quoted("1790000300"), .expiry),
            claim("exp", "null", .expiry), claim("exp", "-1", .expiry),
            claim("iat", nil, .issueTime), claim("iat", "1790000100", .issueTime), claim("iat", "true", .issueTime),
            claim("nbf", "1790000100", .notBefore), claim("nbf", quoted("0"), .notBefore),
            claim("nonce", nil, .nonce), claim("nonce", quoted("n-2"), .nonce), claim("nonce", "[\"n-1\"]", .nonce),
            claim("at_hash", quoted("AAAAAAAAAAAAAAAAAAAAAA"), .accessTokenHash),
            claim("auth_time", quoted("1790000000"), .authenticationTime),
            BadToken("auth_time is too long ago", .authenticationTime) {
                $0.rules.maxAge = .seconds(60)
                $0.claims["auth_time"] = "1789999800"
            },
            BadToken("auth_time is missing after max_age", .authenticationTime) { $0.rules.maxAge = .seconds(60) },
            BadToken("acr is missing", .authenticationClass) { $0.rules.acr = ["gold"] },
            BadToken("acr is another one", .authenticationClass) {
                $0.rules.acr = ["gold", "silver"]
                $0.claims["acr"] = quoted("bronze")
            },
            BadToken("a claim occurs twice", .duplicateMember) { $0.claims.add("sub", quoted("eve")) },
            BadToken("a claim occurs twice with an escape", .duplicateMember) {
                $0.claims.add("su\\u0062", quoted("eve"))
            },
            BadToken("an inner object has a member twice", .duplicateMember) {
                $0.claims.add("address", "{\"a\":1,\"a\":2}")
            },
            BadToken("the claims are no object", .format) { test in
                test.damage = { _ in (try? TestKey.es256.sign(#"{"alg":"ES256"}"#, "[]")) ?? "" }
            },
            BadToken("the claims are no JSON", .format) { $0.claims.add("a", "tru") },
        ]

        static let headers = [
            header("alg", nil, .algorithm), header("alg", quoted("none"), .algorithm),
            header("alg", quoted("None"), .algorithm),
            header("alg", quoted("HS256"), .algorithm), header("alg", quoted("HS512"), .algorithm),
            header("alg", quoted("ES512"), .algorithm), header("alg", quoted("RS1"), .algorithm),
            header("alg", quoted("es256"), .algorithm), header("alg", "null", .algorithm),
            header("alg", "[\"ES256\"]", .algorithm),
            header("crit", "[\"exp\"]", .critical), header("crit", "[]", .critical), header("crit", "null", .critical),
            header("kid", "1", .format), header("kid", quoted("unknown"), .key),
            BadToken("the header has a member twice", .duplicateMember) { $0.header.add("alg", quoted("none")) },
            BadToken("the header is too large", .format) {
                $0.header["x"] = quoted(String(repeating: "a", count: SignedToken.maximumHeaderSize))
            },
            BadToken("the signature is by another algorithm than the header says", .key) {
                $0.header["alg"] = quoted("ES384")
            },
        ]

        static let texts = [
            text("it is empty", .format) { _ in "" },
            text("it is no token", .format) { _ in "not a token" },
            text("it has two parts", .format) { $0.split(separator: ".").prefix(2).joined(separator: ".") },
            text("it has four parts", .format) { $0 + ".AAAA" },
            text("it is encrypted", .format) { $0 + ".AAAA.AAAA" },
            text("it has padding", .format) { $0 + "==" },
            text("it has a line break", .format) { $0 + "\n" },
            text("it has a space in front", .format) { " " + $0 },
            text("its payload has bits behind its end", .format) { whole in
                var parts = whole.split(separator: ".").map(String.init)
                parts[1] = "e30"
                parts[1].removeLast()
                parts[1] += "1"
                return parts.joined(separator: ".")
            },
            text("its signature is missing", .signature) {
                $0.split(separator: ".").prefix(2).joined(separator: ".") + "."
            },
            text("its signature is too long", .format) { $0 + String(repeating: "AAAA", count: 400) },
            text("it is too large", .format) { $0 + String(repeating: "A", count: SignedToken.maximumSize) },
            text("its claims are those of another token", .signature) { whole in
                var parts = whole.split(separator: ".").map(String.init)
                var other = TokenCase()
                other.claims["sub"] = quoted("eve")
                parts[1] = Base64URL.encode(other.claims.text.utf8)
                return parts.joined(separator: ".")
            },
            text("its header is that of another token", .signature) { whole in
                var parts = whole.split(separator: ".").map(String.init)
                parts[0] = Base64URL.encode(#"{"alg":"ES256"}"#.utf8)
                return parts.joined(separator: ".")
            },
            text("it is signed by none", .algorithm) { whole in
                Base64URL.encode(#"{"alg":"none"}"#.utf8) + "." + whole.split(separator: ".")[1] + "."
            },
        ]

        static let keys = [
            BadToken("the server has no key", .key) { $0.keys = [] },
            BadToken("the server has only keys for encryption", .key) { $0.keys[0]["use"] = quoted("enc") },
            BadToken("the key is for another algorithm", .key) { $0.keys[0]["alg"] = quoted("ES384") },
            BadToken("the key is not for verification", .key) { $0.keys[0]["key_ops"] = "[\"sign\"]" },
            BadToken("the key is of another curve", .key) { $0.keys = [TestKey.es384.jwk] },
            BadToken("the key is symmetric", .key) {
                $0.keys = [["kty": quoted("oct"), "kid": quoted("key-ES256"), "k": quoted("AAAA")]]
            },
            BadToken("two keys have the same name", .severalKeys) { $0.keys += $0.keys },
            BadToken("several keys are possible without a name", .severalKeys) { test in
                test.header["kid"] = nil
                var other = TestKey.es256.jwk
                other["kid"] = quoted("other")
                test.keys.append(other)
            },
            BadToken("the key is another one with the same name", .signature) { test in
                test.keys[0]["x"] = TestKey.number(Data(TestKey.otherP256.prefix(32)))
                test.keys[0]["y"] = TestKey.number(Data(TestKey.otherP256.suffix(32)))
            },
        ]
    }

    @Suite("bad ID tokens", .timeLimit(.minutes(10))) struct BadIDTokenTests {
        @Test("the token fails its check, and no other", arguments: BadToken.all) func fails(_ bad: BadToken) throws {
            var test = TokenCase()
            #expect(test.failedCheck() == nil)
            try bad.change(&test)
            #expect(test.failedCheck() == bad.check)
        }

        @Test("every check has a bad token") func everyCheck() {
            let elsewhere: Set<OAuthError.IDTokenCheck> = [.presence, .weakKey]
            #expect(Set(BadToken.all.map(\.check)).union(elsewhere) == Set(OAuthError.IDTokenCheck.allCases))
            #expect(BadToken.all.count >= 60)
        }
    }
#endif
