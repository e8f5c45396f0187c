import Foundation
import ReferenceBackend
import Testing

@Suite("Controls", .timeLimit(.minutes(10)))
struct ControlTests {
    @Test("The root lists the endpoints") func root() async throws {
        try await withBackend { _, client in
            let response = try await client.get("/")
            #expect(response.status == 200 && response.header("content-type")?.hasPrefix("text/plain") == true)
            #expect(response.text.contains("POST   /auth/login\n") && response.text.contains("GET    /files/{size}\n"))
        }
    }

    @Test("Every access token can be rejected, and so can every refresh")
    func refusals() async throws {
        try await withBackend { backend, client in
            let session = try await TestSession(on: client)
            backend.controls.update {
                $0.rejectAllAccessTokens = true
                $0.refreshTokenRejected = true
            }
            #expect(try await client.with(session.accessToken).get("/me").status == 401)
            #expect(try await client.refresh(session.refreshToken, .envelope).status == 401)
            backend.controls.update {
                $0.rejectAllAccessTokens = false
                $0.refreshTokenRejected = false
            }
            #expect(try await client.with(session.accessToken).get("/me").status == 200)
            #expect(try await client.refresh(session.refreshToken, .envelope).status == 200)
        }
    }

    @Test("A refresh can return no refresh token, and the old one stays valid")
    func omittedRefreshToken() async throws {
        try await withBackend { backend, client in
            let session = try await TestSession(on: client)
            backend.controls.update { $0.omitRefreshToken = true }
            for _ in 1...2 {
                let response = try await client.refresh(session.refreshToken, .envelope)
                #expect(response.status == 200)
                #expect(response["data", "refreshToken"] == nil)
            }
        }
    }

    @Test("expires_in can be set to any value or omitted")
    func expiresIn() async throws {
        try await withBackend(.oauth2) { backend, client in
            var session = try await TestSession(on: client)
            let choices: [(BackendSettings.ExpiresIn, String?)] = [
                (.absent, nil), (.verbatim(0), "0"), (.verbatim("3600"), "\"3600\""),
                (.verbatim(.number(1e12)), "1000000000000"), (.verbatim(nil), "null"), (.actual, "900"),
            ]
            for (choice, expected) in choices {
                backend.controls.update { $0.expiresIn = choice }
                let response = try await client.refresh(session.refreshToken, .oauth2)
                session = try TestSession(response)
                #expect(response["expires_in"]?.jsonText == expected)
            }
        }
    }

    @Test("Access tokens can be opaque, and JWT times can be in milliseconds")
    func tokenShapes() async throws {
        try await withBackend { backend, client in
            let jwt = try await TestSession(on: client)
            let claims = try claims(of: jwt.accessToken)
            let seconds = try #require(claims["exp"]?.integerValue)
            #expect(claims["iat"]?.integerValue == seconds - 900)
            #expect(claims["sub"] == jwt.user["id"])
            for name in ["jti", "sid", "epoch"] { #expect(claims[name] != nil) }

            backend.controls.update { $0.jwtExpiryInMilliseconds = true }
            let milliseconds = try await TestSession(on: client)
            let expiry = try #require(try self.claims(of: milliseconds.accessToken)["exp"]?.integerValue)
            #expect(expiry / 1000 - seconds < 60)
            #expect(try await client.with(milliseconds.accessToken).get("/me").status == 200)

            backend.controls.update { $0.opaqueAccessTokens = true }
            let opaque = try await TestSession(on: client)
            #expect(!opaque.accessToken.contains("."))
            #expect(try await client.with(opaque.accessToken).get("/me").status == 200)
            try await backend.controls.expireAccessTokens()
            #expect(try await client.with(opaque.accessToken).get("/me")["code"] == "TOKEN_EXPIRED")
        }
    }

    private func claims(of token: String) throws -> JSONValue {
        let part = String(token.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
        let padded = part + String(repeating: "=", count: (4 - part.count % 4) % 4)
        return try JSONValue(parsing: try #require(Data(base64Encoded: padded)))
    }

    @Test("Access tokens have the configured lifetime", arguments: [-1, 0, 500, 1000, 1500, 60_000])
    func lifetimes(milliseconds: Int) async throws {
        let lifetime = Duration.milliseconds(milliseconds)
        try await withBackend(.oauth2, configure: { $0.accessTokenLifetime = lifetime }) { backend, client in
            let session = try await TestSession(on: client)
            let fresh = try await client.with(session.accessToken).get("/me")
            // Between the two limits the result depends on the speed of the machine.
            if milliseconds <= 0 || milliseconds > 10_000 { #expect(fresh.status == (milliseconds > 0 ? 200 : 401)) }
            backend.controls.update { $0.dateOffset = lifetime + .seconds(1) }
            let old = try await client.with(session.accessToken).get("/me")
            #expect(old["code"] == "TOKEN_EXPIRED")
        }
    }

    @Test("A clock that is ahead affects the `Date` field and expiry")
    func clock() async throws {
        try await withBackend { backend, client in
            let session = try await TestSession(on: client)
            let before = try #require(try await client.get("/public/ping").header("Date"))
            backend.controls.update { $0.dateOffset = .seconds(3600) }
            let after = try #require(try await client.get("/public/ping").header("Date"))
            let ahead = try date(after).timeIntervalSince(try date(before))
            #expect((3599...3660).contains(ahead))
            #expect(try await client.with(session.accessToken).get("/me")["code"] == "TOKEN_EXPIRED")
        }
    }

    private func date(_ text: String) throws -> Date {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return try #require(formatter.date(from: text))
    }

    @Test("Counters count by route and status, and can be reset")
    func counters() async throws {
        try await withBackend { backend, client in
            let session = try await TestSession(on: client)
            _ = try await client.get("/articles/one")
            _ = try await client.with(session.accessToken).get("/articles/two")
            _ = try await client.get("/_control/settings")
            let counters = backend.controls.counters
            #expect(counters["GET /articles/{id}"] == 2)
            #expect(counters.statusesByRoute["GET /articles/{id}"] == [401: 1, 404: 1])
            #expect(counters.statuses == [201: 1, 401: 1, 404: 1])
            #expect(counters.guestRegistrations == 1)
            #expect(counters.connectionsAccepted >= 1)
            #expect(backend.controls.arrivalCount("/articles/*") == 2)
            backend.controls.resetCounters()
            #expect(backend.controls.counters.requests.isEmpty)
            #expect(backend.controls.arrivalCount("*") == 0)
        }
    }

    @Test("The controls have the same effect over HTTP")
    func overHTTP() async throws {
        try await withBackend { backend, client in
            let session = try await TestSession(on: client)
            #expect(try await client.post("/_control/expire-access-tokens").status == 204)
            #expect(try await client.with(session.accessToken).get("/me")["code"] == "TOKEN_EXPIRED")

            let settings: JSONValue = ["rotationGrace": 1.5, "expiresIn": "3600", "omitRefreshToken": true]
            #expect(try await client.send("PATCH", "/_control/settings", json: settings).status == 200)
            #expect(backend.controls.settings.rotationGrace == .milliseconds(1500))
            #expect(backend.controls.settings.expiresIn == .verbatim("3600"))
            #expect(try await client.send("PATCH", "/_control/settings", json: ["nonsense": 1]).status == 400)

            let fault: JSONValue = [
                "path": "/me", "times": "unlimited", "status": 503, "headers": ["Retry-After": "5"],
            ]
            let added = try await client.post("/_control/faults", fault)
            #expect(added.status == 201)
            #expect(try await client.get("/me").header("Retry-After") == "5")
            #expect(try await client.get("/_control/faults").json.arrayValue?.count == 1)
            let id = try #require(added["id"]?.integerValue)
            #expect(try await client.send("DELETE", "/_control/faults/\(id)").status == 204)
            #expect(try await client.get("/me").status == 401)
            #expect(try await client.post("/_control/faults", ["status": 503]).status == 400)

            #expect(try await client.post("/_control/hold", ["path": "/public/ping"]).status == 201)
            let held = Task { try await client.get("/public/ping").status }
            #expect(try await client.get("/_control/wait?path=/public/ping").status == 200)
            #expect(try await client.post("/_control/release").status == 204)
            #expect(try await held.value == 200)

            #expect(try await client.post("/_control/revoke-sessions").status == 204)
            #expect(try await client.refresh(session.refreshToken, .envelope).status == 401)
            #expect(try await client.get("/_control/counters")["requests", "GET /me"] == 3)
            #expect(try await client.send("DELETE", "/_control/counters").status == 204)
            #expect(backend.controls.counters.requests.isEmpty)
            let timeout = try await client.get("/_control/wait?path=/never&timeoutMs=1")
            #expect(timeout.status == 504)
        }
    }

    @Test("Without the flag, there are no controls over HTTP")
    func notServed() async throws {
        try await withBackend(.envelope, configure: { $0.hostileControls = false }) { _, client in
            for path in ["/_control/settings", "/_control/echo"] {
                let response = try await client.get(path)
                #expect(response.status == 404)
            }
        }
    }

    @Test("Controls are refused on other than loopback addresses")
    func loopbackOnly() async throws {
        var configuration = BackendConfiguration.testing()
        configuration.host = "0.0.0.0"
        await #expect(throws: ReferenceBackend.StartError.hostileControlsNeedLoopback(host: "0.0.0.0")) {
            try await ReferenceBackend.start(configuration)
        }
    }

    @Test("An OpenID provider, which asks for no password, is refused on other than loopback addresses")
    func providerOnLoopbackOnly() async throws {
        var configuration = BackendConfiguration()
        configuration.host = "0.0.0.0"
        configuration.openID = OpenIDProvider()
        await #expect(throws: ReferenceBackend.StartError.openIDNeedsLoopback(host: "0.0.0.0")) {
            try await ReferenceBackend.start(configuration)
        }
    }
}
