internal import Martlet
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Conformance over the wire: starts, rejections and responses", .timeLimit(.minutes(10)))
    struct ConformanceStartTests {
        @Test(
            "C57: signed out, a call with optional authentication is sent without a token and succeeds",
            arguments: Wire.allCases)
        func signedOut(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                let ping: Ping = try await app.client.send(AnyCall.get("/public/ping"))
                #expect(ping.pong && !ping.authorizationSeen)
                let feed = try await app.client.data(for: AnyCall.get("/feed"))
                #expect(feed.status == 200)
                #expect(app.counters.refreshesCalled == 0)
            }
        }

        @Test("C57: signed in, the same call carries the token", arguments: Wire.allCases)
        func signedIn(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                let ping: Ping = try await app.client.send(AnyCall.get("/public/ping"))
                #expect(ping.authorizationSeen)
            }
        }

        @Test("C58: 419 refreshes and replays", arguments: Wire.allCases)
        func expiredIs419(wire: Wire) async throws {
            try await App.run(.legacy419, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                _ = try await app.client.send(Me())
                #expect(
                    app.counters.responses(419, for: "GET /me") == 1 && app.counters.responses(200, for: "GET /me") == 1
                )
            }
        }

        @Test("C58: 419 and 401 both refresh if both are configured", arguments: Wire.allCases)
        func expiredIsEither(wire: Wire) async throws {
            let setup = Setup.legacy419.with { $0.rejection = .status(419).or(.unauthorized) }
            try await App.run(setup, over: wire) { app in
                try await app.signUp()
                app.controls.inject("GET /me", .respond(.init(401)))
                _ = try await app.client.send(Me())
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test("C61: a token endpoint that returns 401 is called once", arguments: Wire.allCases)
        func tokenEndpointRefuses(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.controls.expireAccessTokens()
                app.controls.update { $0.refreshTokenRejected = true }
                guard case .sessionExpired(_, let reason, let response) = try await app.failure(of: AnyCall.me) else {
                    return #expect(Bool(false), "not expired")
                }
                #expect(reason == .refreshTokenRejected(code: "REFRESH_TOKEN_INVALID") && response?.status == 401)
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test("C62: an expired session is refreshed at the start", arguments: Wire.allCases)
        func restoreExpired(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.expireStoredToken()
                let state = try await app.restarted().tokens.restore()
                #expect(state.isSignedIn)
                #expect(app.counters.refreshesSucceeded == 1)
                #expect(await app.stored?.stamp.rotation == 1)
            }
        }

        @Test("C62: an expired session that the server ended is reported as expired", arguments: Wire.allCases)
        func restoreRevoked(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.expireStoredToken()
                try await app.controls.revokeSessions()
                let state = try await app.restarted().tokens.restore()
                #expect(state == .expired(.refreshTokenRejected(code: "REFRESH_TOKEN_INVALID")))
                // The state changes before the store is updated, so that the app does not wait for the disk.
                await waitUntil { await app.stored == nil }
            }
        }

        @Test("C62: without a stored session, the app is signed out and nothing is sent", arguments: Wire.allCases)
        func restoreNothing(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                #expect(await app.tokens.restore() == .signedOut)
                #expect(app.traffic.sent.isEmpty)
            }
        }

        @Test("C62: if the server is unreachable, the session stays and is stale", arguments: Wire.allCases)
        func restoreOffline(wire: Wire) async throws {
            try await App.run(.reissue, over: wire) { app in
                try await app.signUp()
                try await app.expireStoredToken()
                let before = await app.stored
                await app.backend.stop()
                guard case .signedIn(let session) = try await app.restarted().tokens.restore() else {
                    return #expect(Bool(false), "signed out because of the network")
                }
                #expect(session.isStale)
                // The journal keeps the time of the attempted refresh.
                await waitUntil { await app.stored == before }
            }
        }

        @Test("C64: an error in an envelope is typed, whatever its status", arguments: Wire.allCases, [200, 409, 500])
        func envelope(wire: Wire, status: Int) async throws {
            let body = """
                {"success": false, "code": "NAME_TAKEN", "message": "Choose another name.",
                 "errors": [{"field": "name", "message": "taken"}, "and a text"], "meta": {"requestId": "r-17"}}
                """
            try await App.run(.envelope, over: wire) { app in
                app.controls.inject("GET /feed", .respond(.init(status, body: body)))
                let error = await #expect(throws: NetworkError.self) {
                    try await app.client.send(AnyCall.get("/feed"), as: User.self)
                }
                guard case .api(_, let refusal) = error else {
                    return #expect(Bool(false), "\(String(describing: error))")
                }
                #expect(refusal.status == status && refusal.code == "NAME_TAKEN" && refusal.requestID == "r-17")
                #expect(refusal.message == "Choose another name.")
                #expect(refusal.errors == [.init(field: "name", message: "taken"), .init(message: "and a text")])
            }
        }

        @Test("C65: an empty response decodes into a type that allows it", arguments: Wire.allCases, [200, 204])
        func empty(wire: Wire, status: Int) async throws {
            for setup in [Setup.reissue, .envelope] {
                try await App.run(setup, over: wire) { app in
                    let call = AnyCall.get("/_control/empty", query: ["status": status])
                    try await app.client.send(call)
                    let user: User? = try await app.client.send(call)
                    #expect(user == nil)
                }
            }
        }

        @Test("C65: an empty response is an error that names the expected type", arguments: Wire.allCases, [200, 204])
        func emptyForValue(wire: Wire, status: Int) async throws {
            try await App.run(.reissue, over: wire) { app in
                let call = AnyCall.get("/_control/empty", query: ["status": status])
                let error = await #expect(throws: NetworkError.self) { try await app.client.send(call, as: User.self) }
                guard case .decoding(_, let failure) = error else {
                    return #expect(Bool(false), "not a decoding error")
                }
                #expect(failure.type == "User" && failure.response.status == status)
            }
        }

        @Test("C65: a decoding error names the type and the coding path", arguments: Wire.allCases)
        func codingPath(wire: Wire) async throws {
            try await App.run(.envelope, over: wire) { app in
                let body = #"{"success": true, "data": {"items": [{"id": "1", "title": "Wrens", "createdAt": 7}]}}"#
                app.controls.inject("GET /feed", .respond(.init(200, body: body)))
                let error = await #expect(throws: NetworkError.self) {
                    try await app.client.send(AnyCall.get("/feed"), as: Page<Article>.self)
                }
                guard case .decoding(_, let failure) = error else {
                    return #expect(Bool(false), "not a decoding error")
                }
                #expect(failure.type == "Page<Article>")
                #expect(failure.codingPath == "data.items[0].createdAt")
            }
        }
    }
}
