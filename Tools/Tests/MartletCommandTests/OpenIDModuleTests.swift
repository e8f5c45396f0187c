import Martlet
import MartletOAuth
import MartletTesting
import ReferenceBackend
import Testing

@testable import MartletCommand

@Suite("Modules of the OpenID Foundation's plans over HTTP", .timeLimit(.minutes(10))) struct OpenIDModuleTests {
    /// The error by which a sign-in must end for each module. `OpenIDModule.negative` says what its provider does.
    static let errors: [String: OAuthError.Kind] = [
        "oidcc-client-test-discovery-issuer-mismatch": .discovery,
        "oidcc-client-test-invalid-iss": .idToken(.issuer),
        "oidcc-client-test-missing-sub": .idToken(.subject),
        "oidcc-client-test-invalid-aud": .idToken(.audience),
        "oidcc-client-test-missing-aud": .idToken(.audience),
        "oidcc-client-test-missing-iat": .idToken(.issueTime),
        "oidcc-client-test-nonce-invalid": .idToken(.nonce),
        // The suite also passes a client that relies on TLS here.
        "oidcc-client-test-idtoken-sig-none": .idToken(.algorithm),
        "oidcc-client-test-invalid-sig-hs256": .idToken(.algorithm),
        "oidcc-client-test-invalid-sig-es256": .idToken(.signature),
        "oidcc-client-test-invalid-sig-rs256": .idToken(.signature),
        // The suite also passes a client that tries each key.
        "oidcc-client-test-kid-absent-multiple-jwks": .idToken(.severalKeys),
        "oidcc-client-test-userinfo-invalid-sub": .userinfo,
        "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-state-fails":
            .stateMismatch,
        "fapi2-security-profile-final-client-test-ensure-authorization-response-with-invalid-missing-state-fails":
            .stateMismatch,
        "fapi2-security-profile-final-client-test-invalid-authorization-response-iss": .wrongIssuer,
        "fapi2-security-profile-final-client-test-remove-authorization-response-iss": .wrongIssuer,
        "fapi2-security-profile-final-client-test-invalid-missing-iss": .idToken(.issuer),
        "fapi2-security-profile-final-client-test-invalid-secondary-aud": .idToken(.authorizedParty),
        "fapi2-security-profile-final-client-test-invalid-expired-exp": .idToken(.expiry),
        "fapi2-security-profile-final-client-test-invalid-missing-exp": .idToken(.expiry),
        "fapi2-security-profile-final-client-test-invalid-missing-nonce": .idToken(.nonce),
        "fapi2-security-profile-final-client-test-invalid-null-alg": .idToken(.algorithm),
        "fapi2-security-profile-final-client-test-invalid-alternate-alg": .idToken(.algorithm),
    ]

    /// A module with its error.
    struct Row: Sendable, CustomTestStringConvertible {
        let module: OpenIDModule
        let error: OAuthError.Kind?

        var testDescription: String { "\(module.name): \(module.deviation)" }
    }

    private static let rows = OpenIDModule.negative.map { Row(module: $0, error: errors[$0.name]) }

    /// Runs a provider.
    private func withProvider(
        _ module: OpenIDModule? = nil, secret: String? = nil, _ body: (ReferenceBackend) async throws -> Void
    ) async throws {
        var configuration = BackendConfiguration.testing(.oauth2)
        configuration.openID = OpenIDProvider(module: module)
        if let secret { configuration.oauthClient = .init(id: "app", secret: secret, isRequired: true) }
        try await ReferenceBackend.withRunning(configuration, body)
    }

    @Test("The error of each module is known") func table() {
        #expect(Set(OpenIDModule.negative.map(\.name)) == Set(Self.errors.keys))
        #expect(OpenIDModule.negative.count == Self.errors.count)
    }

    @Test("Each negative module is refused, nothing is stored, and the earlier session goes on", arguments: rows)
    func negative(_ row: Row) async throws {
        let expected = try #require(row.error)
        try await withProvider(row.module) { backend in
            let store = AnyTokenStore.inMemory(.fresh(7), account: SessionAccount(userID: "before"))
            var party = RelyingParty(issuer: backend.baseURL, client: .init(id: "app"), store: store)
            party.options.fetchesUserinfo = true
            let before = await party.tokens.restore()
            let stored = await store.read()
            guard case .refused(let error) = await party.signIn() else {
                Issue.record("the user is signed in")
                return
            }
            #expect(error.kind == expected)
            #expect(party.tokens.state == before)
            #expect(party.tokens.currentTokens?.accessToken == "access-7")
            #expect(await store.read() == stored)
            // The code is sent only if the callback is good. Tokens that the provider has issued are revoked.
            let exchanges: Int
            switch expected {
            case .idToken, .userinfo: exchanges = 1
            default: exchanges = 0
            }
            let counters = backend.controls.counters
            #expect(counters.requests["POST /oauth/token", default: 0] == exchanges)
            #expect(counters.requests["POST /oauth/revoke", default: 0] == exchanges)
            #expect(counters.revocations == exchanges)
        }
    }

    @Test("A provider without a deviation signs the user in, and its tokens work", arguments: [nil, "s3cret"])
    func positive(_ secret: String?) async throws {
        try await withProvider(secret: secret) { backend in
            let client = Martlet.OAuthClient(id: "app", secret: secret.map { Secret($0) })
            var party = RelyingParty(issuer: backend.baseURL, client: client)
            party.options.fetchesUserinfo = true
            guard case .signedIn(let subject) = await party.signIn() else {
                Issue.record("the sign-in was refused")
                return
            }
            let first = party.tokens.currentTokens
            try await party.tokens.refresh()
            #expect(party.tokens.currentTokens?.accessToken != first?.accessToken)
            let me = try await NetworkClient(tokens: party.tokens).send(Me())
            #expect(me.id == subject)
            await party.tokens.signOut(waitingForServer: .seconds(30))
            #expect(backend.controls.counters.revocations == 1)
        }
    }

    @Test("oauth-rp prints one line, and its exit status says whether the user is signed in") func command()
        async throws
    {
        try await withProvider { backend in
            let run = try await CommandRun("oauth-rp", "--issuer", backend.baseURL, "--client-id", "app")
            #expect(run.status == 0, "\(run.output)")
            #expect(run.output.hasPrefix("signed in: ") && run.output.filter { $0 == "\n" }.count == 1)
        }
        let module = try #require(OpenIDModule.negative.first { $0.name == "oidcc-client-test-nonce-invalid" })
        try await withProvider(module) { backend in
            let run = try await CommandRun("oauth-rp", "--issuer", backend.baseURL, "--client-id", "app")
            #expect(run.status == 1, "\(run.output)")
            #expect(run.output.hasPrefix("refused: idToken(nonce): The ID token from \(backend.baseURL) was refused"))
            #expect(run.output.filter { $0 == "\n" }.count == 1)
        }
    }

    @Test("A server that shows a page instead of a redirect ends the sign-in, and the command") func page() async throws
    {
        try await withProvider { backend in
            let run = try await CommandRun("oauth-rp", "--issuer", backend.baseURL, "--client-id", "other")
            #expect(run.status == 1, "\(run.output)")
            #expect(run.output.hasPrefix("refused: noBrowser: "))
        }
    }
}

/// Asks the API for the user.
private struct Me: APIRequest {
    struct Response: Decodable, Sendable {
        let id: String
    }

    let path: RequestPath = "/me"
    let authentication = AuthenticationRequirement.required
}
