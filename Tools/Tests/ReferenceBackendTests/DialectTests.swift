import ReferenceBackend
import Testing

@Suite("Single dialects", .timeLimit(.minutes(10)))
struct DialectTests {
    @Test("envelope: every response has the same members, including errors")
    func envelope() async throws {
        try await withBackend(.envelope) { _, client in
            for (path, status) in [("/public/ping", 200), ("/me", 401), ("/nowhere", 404)] {
                let response = try await client.get(path)
                #expect(response.status == status)
                #expect(response["success"]?.boolValue == (status == 200))
                #expect(response["meta", "path"]?.stringValue == path)
                #expect(response["meta", "requestId"]?.stringValue == response.header("X-Request-Id"))
                let timestamp = try #require(response["meta", "timestamp"]?.stringValue)
                #expect(timestamp.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
                for member in ["code", "message", "data", "errors"] { #expect(response.json[member] != nil) }
                #expect(response["meta", "durationMs"]?.integerValue != nil)
            }
        }
    }

    @Test("envelope: invalid fields are named")
    func fieldErrors() async throws {
        try await withBackend(.envelope) { _, client in
            let response = try await client.post("/auth/register", ["email": "invalid", "password": "short"])
            #expect(response.status == 422)
            let fields = response["errors"]?.arrayValue?.compactMap { $0["field"]?.stringValue }
            #expect(fields == ["email", "password"])
        }
    }

    @Test("header: a bearer token of another session is rejected, an expired one of the same session is not")
    func headerBearer() async throws {
        try await withBackend(.header) { backend, client in
            let mine = try await TestSession(on: client)
            let other = try await TestSession(on: client)
            let foreign = try await client.with(other.accessToken).refresh(mine.refreshToken, .header)
            #expect(foreign.status == 401)
            try await backend.controls.expireAccessTokens()
            let own = try await client.with(mine.accessToken).refresh(mine.refreshToken, .header)
            #expect(own.status == 200)
            #expect(own.json.objectValue?.keys.sorted() == ["accessToken", "refreshToken"])
        }
    }

    @Test("header: the access token can be in a custom field without a scheme")
    func otherHeader() async throws {
        let field = AccessTokenHeader(name: "X-Access-Token", scheme: nil)
        try await withBackend(.header, configure: { $0.accessTokenHeader = field }) { _, client in
            let session = try await TestSession(on: client)
            #expect(try await client.get("/me", headers: [("X-Access-Token", session.accessToken)]).status == 200)
            #expect(try await client.with(session.accessToken).get("/me").status == 401)
        }
    }

    @Test("legacy419: expired is 419, garbage is 401, and a refresh returns one field")
    func legacy419() async throws {
        try await withBackend(.legacy419) { backend, client in
            let session = try await TestSession(on: client)
            #expect(try await client.get("/me").status == 401)
            #expect(try await client.with("garbage").get("/me").status == 401)
            try await backend.controls.expireAccessTokens()
            #expect(try await client.with(session.accessToken).get("/me").status == 419)
            for _ in 1...2 {
                let response = try await client.refresh(session.refreshToken, .legacy419)
                #expect(response.json.objectValue?.keys.sorted() == ["token"])
            }
            #expect(backend.controls.counters.reuseDetected == 0)
        }
    }

    @Test("reissue: tokens are in a result member")
    func reissue() async throws {
        try await withBackend(.reissue) { _, client in
            let session = try await TestSession(on: client)
            let response = try await client.refresh(session.refreshToken, .reissue)
            #expect(response["result"]?.objectValue?.keys.sorted() == ["accessToken", "refreshToken"])
            #expect(try await client.refresh("unknown", .reissue).status == 401)
        }
    }

    @Test("cookie: the refresh token is in an HttpOnly cookie and in no body")
    func cookie() async throws {
        try await withBackend(.cookie) { _, client in
            var form = TestForm()
            form.add("name", "Wren")
            let registered = try await client.postMultipart("/auth/guest/register", form)
            let session = try TestSession(registered)
            let cookie = try #require(registered.header("Set-Cookie"))
            for attribute in ["HttpOnly", "SameSite=Strict", "Path=/auth", "Expires="] {
                #expect(cookie.contains(attribute))
            }
            #expect(!cookie.contains("Secure"))
            #expect(!registered.text.contains(session.refreshToken))

            let refreshed = try await client.refresh(session.refreshToken, .cookie)
            #expect(refreshed.json.objectValue?.keys.sorted() == ["accessToken", "expiresIn"])
            let next = try #require(refreshed.header("Set-Cookie").flatMap(TestSession.cookieValue))
            #expect(!refreshed.text.contains(next))

            let out = try await client.post("/auth/logout", headers: [("Cookie", "a=b; refresh_token=\(next)")])
            #expect(out.status == 204)
            #expect(out.header("Set-Cookie")?.hasPrefix("refresh_token=;") == true)
            #expect(try await client.refresh(next, .cookie).status == 401)
            #expect(try await client.post("/auth/refresh").status == 401)
        }
    }

    @Test("cookie: a refresh token in a body or a field is ignored")
    func cookieOnly() async throws {
        try await withBackend(.cookie) { _, client in
            let session = try await TestSession(on: client)
            let response = try await client.post("/auth/refresh", ["refreshToken": .string(session.refreshToken)])
            #expect(response.status == 401)
        }
    }
}
