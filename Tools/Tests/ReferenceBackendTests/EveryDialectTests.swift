import NIOConcurrencyHelpers
import ReferenceBackend
import Testing

@Suite("Every dialect", .timeLimit(.minutes(10)))
struct EveryDialectTests {
    @Test("A guest registers with a picture, and the picture can be downloaded", arguments: Dialect.allCases)
    func picture(dialect: Dialect) async throws {
        try await withBackend(dialect) { backend, client in
            let picture = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            var form = TestForm()
            form.add("name", "Wren")
            form.add("image", filename: "wren.jpg", contentType: "image/jpeg", picture)
            let response = try await client.postMultipart("/auth/guest/register", form)
            #expect(response.status == 201)
            let session = try TestSession(response)
            #expect(session.user["name"] == "Wren")
            #expect(session.user["isGuest"] == true)
            let url = try #require(session.user["profileUrl"]?.stringValue)
            let key = try #require(session.user["profileImageKey"]?.stringValue)
            #expect(url == "\(backend.baseURL)/images/\(key)")
            let image = try await client.get(url)
            #expect(image.header("Content-Type") == "image/jpeg")
            #expect(image.bytes == picture)
        }
    }

    @Test("A guest without a picture has no picture to download", arguments: Dialect.allCases)
    func withoutPicture(dialect: Dialect) async throws {
        try await withBackend(dialect) { _, client in
            let session = try await TestSession(on: client)
            #expect(session.user["profileUrl"] == .some(.null))
            #expect(session.user["profileImageKey"] == .some(.null))
        }
    }

    @Test("An access token grants the profile, and a refresh returns another one", arguments: Dialect.allCases)
    func refresh(dialect: Dialect) async throws {
        try await withBackend(dialect) { backend, client in
            let session = try await TestSession(on: client)
            let profile = try await client.with(session.accessToken).get("/me")
            #expect(profile.status == 200)
            #expect((profile["data"] ?? profile.json)["name"] == "Wren")

            try await backend.controls.expireAccessTokens()
            let expired = try await client.with(session.accessToken).get("/me")
            #expect(expired.status == (dialect == .legacy419 ? 419 : 401))

            let refreshed = try await client.refresh(session.refreshToken, dialect)
            #expect(refreshed.status == 200)
            let body = refreshed.json["data"] ?? refreshed.json["result"] ?? refreshed.json
            let token = try #require((body["accessToken"] ?? body["access_token"] ?? body["token"])?.stringValue)
            #expect(try await client.with(token).get("/me").status == 200)
            let counters = backend.controls.counters
            #expect(counters.refreshesCalled == 1)
            #expect(counters.refreshesSucceeded == 1)
            #expect(counters.unauthorized == 1)
            #expect(counters.distinctAccessTokens == 2)
        }
    }

    @Test("A revoked session cannot be refreshed", arguments: Dialect.allCases)
    func revoked(dialect: Dialect) async throws {
        try await withBackend(dialect) { backend, client in
            let session = try await TestSession(on: client)
            try await backend.controls.revokeSessions()
            let response = try await client.refresh(session.refreshToken, dialect)
            #expect(response.status == (dialect == .oauth2 ? 400 : 401))
            #expect(backend.controls.counters.refreshesRefused == 1)
        }
    }

    @Test("Signing out ends the session", arguments: Dialect.allCases)
    func signOut(dialect: Dialect) async throws {
        try await withBackend(dialect) { backend, client in
            let session = try await TestSession(on: client)
            let response = try await client.with(session.accessToken).post("/auth/logout")
            #expect(response.status == (dialect == .envelope ? 200 : 204))
            #expect(try await client.with(session.accessToken).get("/me").status == 401)
            #expect(try await client.refresh(session.refreshToken, dialect).status >= 400)
            #expect(backend.controls.counters.revocations == 1)
        }
    }

    @Test("A guest becomes an account with the same id", arguments: Dialect.allCases)
    func upgrade(dialect: Dialect) async throws {
        try await withBackend(dialect) { _, client in
            let guest = try await TestSession(on: client)
            let account: JSONValue = ["email": "Wren@example.org", "password": "correct horse"]
            let upgraded = try TestSession(try await client.with(guest.accessToken).post("/auth/upgrade", account))
            #expect(upgraded.user["id"] == guest.user["id"])
            #expect(upgraded.user["isGuest"] == false)
            #expect(try await client.refresh(guest.refreshToken, dialect).status >= 400)
            let again = try await client.with(upgraded.accessToken).post("/auth/upgrade", account)
            #expect(again.status == 409)
            let signedIn = try TestSession(try await client.post("/auth/login", account))
            #expect(signedIn.user["id"] == guest.user["id"])
        }
    }

    @Test("A used refresh token ends the whole session", arguments: Dialect.allCases.filter { $0 != .legacy419 })
    func reuse(dialect: Dialect) async throws {
        let reports = NIOLockedValueBox<[String]>([])
        let configure = { (configuration: inout BackendConfiguration) in
            configuration.onRequest = { moment in
                if moment.stage == .reuseDetected { reports.withLockedValue { $0.append(moment.id) } }
            }
        }
        try await withBackend(dialect, configure: configure) { backend, client in
            let first = try await TestSession(on: client)
            let second = try TestSession(try await client.refresh(first.refreshToken, dialect))
            #expect(second.refreshToken != first.refreshToken)
            #expect(reports.withLockedValue(\.count) == 0)
            let reuse = try await client.refresh(first.refreshToken, dialect)
            #expect(reuse.status >= 400)
            #expect(backend.controls.counters.reuseDetected == 1)
            #expect(reports.withLockedValue { $0 } == [reuse.header("X-Request-Id")])
            #expect(try await client.refresh(second.refreshToken, dialect).status >= 400)
            #expect(try await client.with(second.accessToken).get("/me").status == 401)
        }
    }

    @Test(
        "A used refresh token returns the same pair within the grace and counts as reuse after it",
        arguments: Dialect.allCases.filter { $0 != .legacy419 })
    func grace(dialect: Dialect) async throws {
        try await withBackend(dialect, configure: { $0.rotationGrace = .seconds(30) }) { backend, client in
            let first = try await TestSession(on: client)
            let second = try TestSession(try await client.refresh(first.refreshToken, dialect))
            let repeated = try TestSession(try await client.refresh(first.refreshToken, dialect))
            #expect(repeated.refreshToken == second.refreshToken)
            #expect(repeated.accessToken == second.accessToken)
            #expect(backend.controls.counters.reuseDetected == 0)
            backend.controls.update { $0.dateOffset += .seconds(31) }
            #expect(try await client.refresh(first.refreshToken, dialect).status >= 400)
            #expect(backend.controls.counters.reuseDetected == 1)
        }
    }

    @Test("Every response has a date and a request id", arguments: Dialect.allCases)
    func commonFields(dialect: Dialect) async throws {
        try await withBackend(dialect) { _, client in
            for path in ["/me", "/public/ping", "/nowhere"] {
                let response = try await client.get(path)
                #expect(response.header("Date") != nil)
                #expect(response.header("X-Request-Id") != nil)
            }
        }
    }
}
