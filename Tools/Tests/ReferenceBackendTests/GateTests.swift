import ReferenceBackend
import Testing

@Suite("Gates and waiting", .timeLimit(.minutes(10)))
struct GateTests {
    @Test("Requests are held on arrival, and pass one by one or all at once")
    func holdAndRelease() async throws {
        try await withBackend { backend, client in
            let gate = backend.controls.holdRequests("GET /public/ping")
            let requests = (1...3).map { _ in Task { try await client.get("/public/ping").status } }
            try await backend.controls.waitUntil("/public/ping", count: 3)
            try await gate.waitUntilHeld(3)
            #expect(gate.heldCount == 3)
            #expect(backend.controls.counters.statuses.isEmpty)
            gate.letPass()
            try await backend.controls.waitUntilResponded("/public/ping", count: 1)
            #expect(gate.heldCount == 2)
            gate.release()
            for request in requests { #expect(try await request.value == 200) }
            #expect(try await client.get("/public/ping").status == 200)
        }
    }

    @Test("A request held at its response has been committed")
    func holdAtResponse() async throws {
        try await withBackend { backend, client in
            let session = try await TestSession(on: client)
            let gate = backend.controls.holdRequests("POST /auth/refresh", at: .response)
            let refresh = Task { try await client.refresh(session.refreshToken, .envelope).status }
            try await gate.waitUntilHeld()
            #expect(backend.controls.counters.refreshesSucceeded == 1)
            gate.release()
            #expect(try await refresh.value == 200)
        }
    }

    @Test("Held requests are dropped when the backend stops, and waiting can be cancelled")
    func stopAndCancel() async throws {
        try await withBackend { backend, client in
            let gate = backend.controls.holdRequests("*")
            let request = Task { try await client.get("/public/ping") }
            let waiting = Task { try await backend.controls.waitUntil("/public/ping", count: 2) }
            try await gate.waitUntilHeld()
            await backend.stop()
            await #expect(throws: (any Error).self) { try await request.value }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test("Ten concurrent refreshes with one token keep the session within the grace")
    func concurrentRefreshes() async throws {
        try await withBackend(.envelope, configure: { $0.rotationGrace = .seconds(30) }) { backend, client in
            let session = try await TestSession(on: client)
            let gate = backend.controls.holdRequests("POST /auth/refresh")
            let requests = (1...10).map { _ in
                Task { try TestSession(try await client.refresh(session.refreshToken, .envelope)).refreshToken }
            }
            try await gate.waitUntilHeld(8)
            gate.release()
            var tokens: Set<String> = []
            for request in requests { tokens.insert(try await request.value) }
            #expect(tokens.count == 1)
            #expect(backend.controls.counters.refreshesSucceeded == 10)
            #expect(backend.controls.counters.refreshesRepeated == 9)
        }
    }
}
