import ReferenceBackend
import Testing

@Suite("One dialect")
struct DialectTests {
    @Test("envelope: every answer has the same members, errors included")
    func envelope() async throws {
        try await withBackend(.envelope) { _, client in
            for (path, status) in [("/public/ping", 200), ("/me", 401), ("/nowhere", 404)] {
                let answer = try await client.get(path)
                #expect(answer.status == status)
                #expect(answer["success"]?.boolValue == (status == 200))
                #expect(answer["meta", "path"]?.stringValue == path)
                #expect(answer["meta", "requestId"]?.stringValue == answer.header("X-Request-Id"))
                let timestamp = try #require(answer["meta", "timestamp"]?.stringValue)
                #expect(timestamp.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
                for member in ["code", "message", "data", "errors"] { #expect(answer.json[member] != nil) }
                #expect(answer["meta", "durationMs"]?.integerValue != nil)
            }
        }
    }

    @Test("envelope: wrong fields are named")
    func fieldErrors() async throws {
        try await withBackend(.envelope) { _, client in
            let answer = try await client.post("/auth/register", ["email": "nobody", "password": "short"])
            #expect(answer.status == 422)
            let fields = answer["errors"]?.arrayValue?.compactMap { $0["field"]?.stringValue }
            #expect(fields == ["email", "password"])
        }
    }

    @Test("header: a foreign bearer beside the refresh token is refused, the own one is not, even expired")
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

    @Test("header: the access token can travel in a field of its own, without a scheme")
    func otherHeader() async throws {
        let field = AccessTokenHeader(name: "X-Access-Token", scheme: nil)
        try await withBackend(.header, configure: { $0.accessTokenHeader = field }) { _, client in
            let session = try await TestSession(on: client)
            #expect(try await client.get("/me", headers: [("X-Access-Token", session.accessToken)]).status == 200)
            #expect(try await client.with(session.accessToken).get("/me").status == 401)
        }
    }

    @Test("legacy419: expired is 419, garbage is 401, and a refresh answers one field")
    func legacy419() async throws {
        try await withBackend(.legacy419) { backend, client in
            let session = try await TestSession(on: client)
            #expect(try await client.get("/me").status == 401)
            #expect(try await client.with("garbage").get("/me").status == 401)
            try await backend.controls.expireAccessTokens()
            #expect(try await client.with(session.accessToken).get("/me").status == 419)
            for _ in 1...2 {
                let answer = try await client.refresh(session.refreshToken, .legacy419)
                #expect(answer.json.objectValue?.keys.sorted() == ["token"])
            }
            #expect(backend.controls.counters.reuseDetected == 0)
        }
    }

    @Test("reissue: tokens stand in a result member")
    func reissue() async throws {
        try await withBackend(.reissue) { _, client in
            let session = try await TestSession(on: client)
            let answer = try await client.refresh(session.refreshToken, .reissue)
            #expect(answer["result"]?.objectValue?.keys.sorted() == ["accessToken", "refreshToken"])
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

    @Test("cookie: a body or a field with the refresh token counts for nothing")
    func cookieOnly() async throws {
        try await withBackend(.cookie) { _, client in
            let session = try await TestSession(on: client)
            let answer = try await client.post("/auth/refresh", ["refreshToken": .string(session.refreshToken)])
            #expect(answer.status == 401)
        }
    }
}
