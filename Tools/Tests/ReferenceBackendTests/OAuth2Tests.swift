import Foundation
import ReferenceBackend
import Testing

@Suite("OAuth 2.0", .timeLimit(.minutes(10)))
struct OAuth2Tests {
    private func register(_ client: TestClient) async throws {
        _ = try await client.post("/auth/register", ["email": "wren@example.org", "password": "correct horse"])
    }

    private let passwordGrant = "grant_type=password&username=wren%40example.org&password=correct+horse"

    @Test("A password grant returns tokens, for a form and for JSON")
    func password() async throws {
        try await withBackend(.oauth2) { backend, client in
            try await register(client)
            let response = try await client.postForm("/oauth/token", passwordGrant)
            #expect(response.status == 200)
            #expect(response["token_type"] == "Bearer")
            #expect(response["expires_in"] == 900)
            #expect(response["scope"] == "read write")
            #expect(response.header("Cache-Control") == "no-store")
            let fromJSON = try await client.post(
                "/oauth/token",
                ["grant_type": "password", "username": "wren@example.org", "password": "correct horse"])
            #expect(fromJSON.status == 200)
            #expect(backend.controls.counters.refreshesCalled == 0)
        }
    }

    @Test(
        "Errors of the token endpoint have RFC 6749's codes",
        arguments: [
            ("grant_type=refresh_token&refresh_token=unknown", 400, "invalid_grant"),
            ("grant_type=password&username=a&password=b", 400, "invalid_grant"),
            ("grant_type=client_credentials", 400, "unsupported_grant_type"),
            ("refresh_token=x", 400, "invalid_request"),
            ("grant_type=refresh_token", 400, "invalid_request"),
            ("grant_type=refresh_token&grant_type=password", 400, "invalid_request"),
            ("grant_type=refresh_token&refresh_token=x&scope=everything", 400, "invalid_scope"),
        ])
    func refusals(form: String, status: Int, code: String) async throws {
        try await withBackend(.oauth2) { _, client in
            let response = try await client.postForm("/oauth/token", form)
            #expect(response.status == status)
            #expect(response["error"]?.stringValue == code)
        }
    }

    @Test("A client authenticates in the header or the body, and a wrong one is challenged")
    func clientAuthentication() async throws {
        let known = OAuthClient(id: "app", secret: "s3cret", isRequired: true)
        try await withBackend(.oauth2, configure: { $0.oauthClient = known }) { _, client in
            try await register(client)
            let unauthenticated = try await client.postForm("/oauth/token", passwordGrant)
            #expect(unauthenticated.status == 401)
            #expect(unauthenticated["error"] == "invalid_client")
            #expect(unauthenticated.header("WWW-Authenticate")?.hasPrefix("Basic ") == true)

            func basic(_ text: String) -> [(String, String)] {
                [("Authorization", "Basic \(Data(text.utf8).base64EncodedString())")]
            }
            let wrong = try await client.postForm("/oauth/token", passwordGrant, headers: basic("app:wrong"))
            #expect(wrong.status == 401)
            let right = try await client.postForm("/oauth/token", passwordGrant, headers: basic("app:s3cret"))
            #expect(right.status == 200)
            let inBody = passwordGrant + "&client_id=app&client_secret=s3cret"
            #expect(try await client.postForm("/oauth/token", inBody).status == 200)
            let both = try await client.postForm("/oauth/token", inBody, headers: basic("app:s3cret"))
            #expect(both["error"] == "invalid_request")
        }
    }

    @Test("A revoked token cannot be used, and revoking an unknown one succeeds")
    func revocation() async throws {
        try await withBackend(.oauth2) { _, client in
            let session = try await TestSession(on: client)
            let response = try await client.postForm("/oauth/revoke", "token=\(session.refreshToken)")
            #expect(response.status == 200)
            #expect(try await client.refresh(session.refreshToken, .oauth2)["error"] == "invalid_grant")
            #expect(try await client.postForm("/oauth/revoke", "token=unknown").status == 200)
            #expect(try await client.postForm("/oauth/revoke", "").status == 400)
        }
    }

    @Test("Resources return problem details and RFC 6750's challenge")
    func problems() async throws {
        try await withBackend(.oauth2) { _, client in
            let missing = try await client.get("/me")
            #expect(missing.header("Content-Type") == "application/problem+json")
            #expect(missing.header("WWW-Authenticate") == "Bearer realm=\"martlet\"")
            #expect(missing["status"] == 401)
            #expect(missing["title"] == "Token missing")
            #expect(missing["instance"] == "/me")
            for member in ["type", "detail", "errors", "requestId"] { #expect(missing.json[member] != nil) }
            let invalid = try await client.with("garbage").get("/me")
            let challenge = try #require(invalid.header("WWW-Authenticate"))
            #expect(challenge.contains("error=\"invalid_token\""))
        }
    }
}
