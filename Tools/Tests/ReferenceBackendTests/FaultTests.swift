import AsyncHTTPClient
import ReferenceBackend
import Testing

@Suite("Faults", .timeLimit(.minutes(10)))
struct FaultTests {
    @Test("A fault applies to the given number of requests, after the first ones have passed")
    func timesAndAfter() async throws {
        try await withBackend { backend, client in
            backend.controls.inject(
                "GET /public/ping", .respond(.init(503, headers: ["Retry-After": "20"])), times: 2, after: 1)
            var statuses: [Int] = []
            for _ in 1...4 { statuses.append(try await client.get("/public/ping").status) }
            #expect(statuses == [200, 503, 503, 200])
            #expect(backend.controls.faults.isEmpty)
            #expect(backend.controls.counters.faultsApplied == 2)
            #expect(backend.controls.counters.responses(503, for: "GET /public/ping") == 2)
        }
    }

    @Test("A fault response without a body is an error of the dialect")
    func dialectError() async throws {
        try await withBackend { backend, client in
            backend.controls.inject("/me", .respond(.init(429, headers: ["Retry-After": "20"])))
            let response = try await client.get("/me")
            #expect(response.status == 429)
            #expect(response.header("Retry-After") == "20")
            #expect(response["success"] == false)
            #expect(response["meta", "path"] == "/me")
        }
    }

    @Test("The first matching rule applies, and patterns do not match the controls")
    func order() async throws {
        try await withBackend { backend, client in
            let everything = backend.controls.inject("*", .respond(.html()), times: nil)
            backend.controls.inject("POST /auth/refresh", .respond(.redirect(to: "https://portal.example")), times: nil)
            let portal = try await client.refresh("x", .envelope)
            #expect(portal.status == 200)
            #expect(portal.header("Content-Type")?.hasPrefix("text/html") == true)
            #expect(try await client.get("/_control/settings")["rotationGrace"]?.doubleValue == 0)
            backend.controls.removeFault(everything)
            var notFollowing = client
            notFollowing.client = Self.notFollowing
            let redirect = try await notFollowing.refresh("x", .envelope)
            #expect(redirect.status == 302)
            #expect(redirect.header("Location") == "https://portal.example")
            backend.controls.removeFaults()
        }
    }

    private static let notFollowing = TestClient.make { $0.redirectConfiguration = .disallow }

    @Test("A response dropped after the commit has rotated the token")
    func droppedAfterCommit() async throws {
        try await withBackend(.envelope, configure: { $0.rotationGrace = .seconds(30) }) { backend, client in
            let session = try await TestSession(on: client)
            backend.controls.inject("POST /auth/refresh", .commitThenDropConnection)
            await #expect(throws: (any Error).self) { try await client.refresh(session.refreshToken, .envelope) }
            #expect(backend.controls.counters.refreshesSucceeded == 1)
            #expect(try await client.refresh(session.refreshToken, .envelope).status == 200)
            #expect(backend.controls.counters.refreshesRepeated == 1)
        }
    }

    @Test("A connection dropped before the handler changes nothing")
    func droppedBefore() async throws {
        try await withBackend { backend, client in
            let session = try await TestSession(on: client)
            backend.controls.inject("POST /auth/refresh", .dropConnection)
            await #expect(throws: (any Error).self) { try await client.refresh(session.refreshToken, .envelope) }
            #expect(backend.controls.counters.refreshesCalled == 1)
            #expect(backend.controls.counters.refreshesSucceeded == 0)
            #expect(try await client.refresh(session.refreshToken, .envelope).status == 200)
        }
    }

    @Test("A committed request can return an error")
    func committedThenError() async throws {
        try await withBackend { backend, client in
            let session = try await TestSession(on: client)
            backend.controls.inject("POST /auth/refresh", .commitThenRespond(.init(502)))
            #expect(try await client.refresh(session.refreshToken, .envelope).status == 502)
            #expect(try await client.refresh(session.refreshToken, .envelope).status == 401)
            #expect(backend.controls.counters.reuseDetected == 1)
        }
    }

    @Test("A request hangs until its client disconnects")
    func hangUntilClientLeaves() async throws {
        try await withBackend { backend, client in
            backend.controls.inject("/public/ping", .hang)
            let request = Task { try await client.get("/public/ping") }
            try await backend.controls.waitUntilHanging()
            request.cancel()
            await #expect(throws: (any Error).self) { try await request.value }
            // The next request gets a response, so the hanging one blocked nothing.
            #expect(try await client.get("/public/ping").status == 200)
            try await backend.controls.waitUntilHangsEnded()
            #expect(backend.controls.hangingCount == 0)
        }
    }

    @Test("Hanging requests are dropped when they are released and when the backend stops")
    func hangUntilReleased() async throws {
        try await withBackend { backend, client in
            backend.controls.inject("/public/ping", .hang, times: nil)
            let first = Task { try await client.get("/public/ping") }
            try await backend.controls.waitUntilHanging(1)
            backend.controls.releaseHangs()
            await #expect(throws: (any Error).self) { try await first.value }
            let second = Task { try await client.get("/public/ping") }
            try await backend.controls.waitUntilHanging(2)
            await backend.stop()
            await #expect(throws: (any Error).self) { try await second.value }
            #expect(backend.controls.counters.connectionsOpen == 0)
        }
    }

    @Test("A delayed request is handled after the delay")
    func delay() async throws {
        try await withBackend { backend, client in
            backend.controls.inject("/public/ping", .proceed, delay: .milliseconds(50))
            let start = ContinuousClock.now
            let response = try await client.get("/public/ping")
            #expect(response.status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(50))
        }
    }
}
