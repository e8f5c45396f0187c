/// A module of the OpenID Foundation's test plans for clients: a provider that deviates from the specification in one
/// way.
public struct OpenIDModule: Sendable {
    /// The name in the suite.
    public let name: String
    /// The deviation.
    public let deviation: String

    var metadata: @Sendable (inout [String: JSONValue]) -> Void = { _ in }
    var callback: @Sendable (inout [(name: String, value: String)]) -> Void = { _ in }
    var idToken: @Sendable (inout IDToken) -> Void = { _ in }
    var userinfo: @Sendable (inout [String: JSONValue]) -> Void = { _ in }
    /// Whether the provider publishes a second key of the same type.
    var publishesSecondKey = false

    private init(_ name: String, _ deviation: String, _ change: (inout OpenIDModule) -> Void) {
        self.name = name
        self.deviation = deviation
        change(&self)
    }

    private static func idToken(
        _ name: String, _ deviation: String, _ change: @escaping @Sendable (inout IDToken) -> Void
    ) -> OpenIDModule {
        OpenIDModule(name, deviation) { $0.idToken = change }
    }

    private static func callback(
        _ name: String, _ deviation: String,
        _ change: @escaping @Sendable (inout [(name: String, value: String)]) -> Void
    ) -> OpenIDModule {
        OpenIDModule(name, deviation) { $0.callback = change }
    }
}

extension OpenIDModule {
    /// The modules whose sign-in a client with the code flow must or may refuse.
    public static let negative = connect + fapi

    /// The names of modules in plans of FAPI 2.0 begin with this.
    private static let plan = "fapi2-security-profile-final-client-test-"

    private static let connect = [
        OpenIDModule("oidcc-client-test-discovery-issuer-mismatch", "the metadata has another issuer") { module in
            module.metadata = { $0["issuer"] = "https://other.example.com" }
        },
        idToken("oidcc-client-test-invalid-iss", "iss is another server") {
            $0.claims["iss"] = "https://other.example.com"
        },
        idToken("oidcc-client-test-missing-sub", "no sub") { $0.claims["sub"] = nil },
        idToken("oidcc-client-test-invalid-aud", "aud is another client") { $0.claims["aud"] = "other" },
        idToken("oidcc-client-test-missing-aud", "no aud") { $0.claims["aud"] = nil },
        idToken("oidcc-client-test-missing-iat", "no iat") { $0.claims["iat"] = nil },
        idToken("oidcc-client-test-nonce-invalid", "nonce is another one") { $0.claims["nonce"] = "other" },
        OpenIDModule("oidcc-client-test-idtoken-sig-none", "listed in the metadata: alg is none, without a signature") {
            module in
            module.metadata = { $0["id_token_signing_alg_values_supported"] = ["none", "ES256"] }
            module.idToken = { $0.algorithm = .none }
        },
        OpenIDModule("oidcc-client-test-invalid-sig-hs256", "a wrong signature by HS256, which the metadata lists") {
            module in
            module.metadata = { $0["id_token_signing_alg_values_supported"] = ["HS256", "ES256"] }
            module.idToken = { token in
                token.algorithm = .hs256
                token.isDamaged = true
            }
        },
        idToken("oidcc-client-test-invalid-sig-es256", "a wrong signature by ES256") { $0.isDamaged = true },
        OpenIDModule("oidcc-client-test-invalid-sig-rs256", "a wrong signature by RS256") { module in
            module.metadata = { $0["id_token_signing_alg_values_supported"] = ["RS256"] }
            module.idToken = { token in
                token.algorithm = .rs256
                token.isDamaged = true
            }
        },
        OpenIDModule("oidcc-client-test-kid-absent-multiple-jwks", "no kid, and two keys") { module in
            module.publishesSecondKey = true
            module.idToken = { $0.header["kid"] = nil }
        },
        OpenIDModule("oidcc-client-test-userinfo-invalid-sub", "the sub of userinfo is another user") { module in
            module.userinfo = { $0["sub"] = "other" }
        },
    ]

    /// The security profile of FAPI 2.0: only the modules whose rules for the code flow differ.
    private static let fapi = [
        callback(plan + "ensure-authorization-response-with-invalid-state-fails", "state is another one") { fields in
            fields = fields.map { $0.name == "state" ? ($0.name, $0.value + "1") : $0 }
        },
        callback(plan + "ensure-authorization-response-with-invalid-missing-state-fails", "no state") { fields in
            fields.removeAll { $0.name == "state" }
        },
        callback(plan + "invalid-authorization-response-iss", "the callback's iss is another server") { fields in
            fields = fields.map { $0.name == "iss" ? ($0.name, "https://other.example.com") : $0 }
        },
        callback(plan + "remove-authorization-response-iss", "no iss in the callback, although promised") { fields in
            fields.removeAll { $0.name == "iss" }
        },
        idToken(plan + "invalid-missing-iss", "no iss") { $0.claims["iss"] = nil },
        idToken(plan + "invalid-secondary-aud", "aud has another client, too, and there is no azp") {
            $0.claims["aud"] = ["app", "other"]
        },
        idToken(plan + "invalid-expired-exp", "exp was 5 minutes ago") { token in
            token.claims["exp"] = .integer(token.issuedAt - 300)
        },
        idToken(plan + "invalid-missing-exp", "no exp") { $0.claims["exp"] = nil },
        idToken(plan + "invalid-missing-nonce", "no nonce") { $0.claims["nonce"] = nil },
        idToken(plan + "invalid-null-alg", "alg is none, which the metadata does not list") { $0.algorithm = .none },
        idToken(plan + "invalid-alternate-alg", "signed by RS256, which the metadata does not list") {
            $0.algorithm = .rs256
        },
    ]
}
