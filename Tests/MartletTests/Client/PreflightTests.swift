import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Preflight of uploads", .timeLimit(.minutes(10))) struct PreflightTests {
    private struct Upload: APIEndpoint {
        let path: RequestPath = "/uploads"
        let method = HTTPRequest.Method.post
        var authentication = AuthenticationRequirement.required
        let body: RequestBody?

        init(_ body: RequestBody) { self.body = body }
    }

    /// A body that only claims its length, so that a test of 500 MB needs no memory.
    private func body(claiming length: Int64) -> RequestBody {
        RequestBody(
            contentType: nil, source: .stream { OutgoingBody(Data("short".utf8)) }, measure: { length })
    }

    private func app(lifetime: Int, age: Duration) async throws -> App {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = lifetime }
        let app = try await App.signedIn(backend)
        app.time.advance(by: age)
        return app
    }

    @Test("C39: a token with 20 s left is renewed before an upload of 500 MB starts") func dying() async throws {
        // A token with a lifetime of 200 s is not yet about to expire when 20 s are left (see `SessionPolicy`).
        let app = try await app(lifetime: 200, age: .seconds(174))
        try await app.client.send(Upload(body(claiming: 1000)))
        #expect(app.backend.refreshCalls == 0)
        try await app.client.send(Upload(body(claiming: 500_000_000)))
        #expect(app.backend.refreshCalls == 1)
        let uploads = app.transport.requests(to: "/uploads")
        #expect(uploads.map(\.bearer) == ["access-1", "access-2"])
    }

    @Test("a token that outlasts the upload, or hardly less than a new one would, is not renewed")
    func lasting() async throws {
        let app = try await app(lifetime: 3600, age: .seconds(60))
        try await app.client.send(Upload(body(claiming: 500_000_000)))
        // The upload takes 5,000 s, longer than any token lives, and this token is young.
        try await app.client.send(Upload(body(claiming: 5_000_000_000)))
        #expect(app.backend.refreshCalls == 0)
        app.time.advance(by: .seconds(1800))
        try await app.client.send(Upload(body(claiming: 5_000_000_000)))
        #expect(app.backend.refreshCalls == 1)
        try await app.client.send(Upload(body(claiming: 5_000_000_000)))
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("the assumed upload rate is configurable") func rate() async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = 300 }
        let app = try await App.signedIn(backend) { $0.uploadBytesPerSecond = 10_000 }
        app.time.advance(by: .seconds(200))
        try await app.client.send(Upload(body(claiming: 2_000_000)))
        #expect(app.backend.refreshCalls == 1)
    }

    @Test("a single-use body is sent with a token that is not about to expire")
    func singleUse() async throws {
        let app = try await app(lifetime: 100, age: .seconds(85))
        let chunks = Chunks(chunks: [Data("one ".utf8), Data("two".utf8)])
        try await app.client.send(Upload(.singleUse(chunks)))
        #expect(app.backend.refreshCalls == 1)
        #expect(app.transport.requests(to: "/uploads").map(\.bearer) == ["access-2"])
    }

    @Test("if the token cannot be renewed now, the valid one is used") func refreshFails() async throws {
        let app = try await app(lifetime: 200, age: .seconds(174))
        app.backend.beforeRefresh { _ in .status(503) }
        try await app.client.send(Upload(body(claiming: 500_000_000)))
        // The second upload respects the backoff after the failure.
        try await app.client.send(Upload(body(claiming: 500_000_000)))
        #expect(app.backend.refreshCalls == 1)
        #expect(app.transport.requests(to: "/uploads").map(\.bearer) == ["access-1", "access-1"])
    }

    @Test(
        "a token that aged while the call waited for a slot is renewed before the body is sent, or the call fails",
        arguments: [true, false])
    func agedWhileQueued(isRenewable: Bool) async throws {
        let backend = SimulatedBackend()
        backend.state.withLock { $0.lifetime = 300 }
        let gate = Gate()
        backend.beforeCall { request in
            if request.path == "/first" { await gate.pass() }
            return nil
        }
        let (asked, querying) = AsyncStream.makeStream(of: Void.self)
        let time = ManualTimeSource()
        let transport = SingleConnectionTransport(stub: backend.transport) { querying.yield() }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: time)
        try await tokens.signIn(with: backend.issue())
        let client = NetworkClient(tokens: tokens, config: config { $0.timeout = .seconds(1000) })
        async let first = client.send(Get("/first"))
        await gate.waitForArrivals()
        var queries = asked.makeAsyncIterator()
        await queries.next()
        // The upload takes 100 s. Its token is fine when it asks for a slot, and has 80 s left when it gets one.
        async let upload = error { try await client.send(Upload(body(claiming: 100_000_000))) }
        await queries.next()
        time.advance(by: .seconds(220))
        if !isRenewable { backend.revokeSession() }
        gate.open()
        _ = try await first
        let failure = await upload
        #expect(backend.refreshCalls == 1)
        if isRenewable {
            #expect(failure == nil)
            #expect(transport.stub.requests(to: "/uploads").map(\.bearer) == ["access-2"])
            return
        }
        guard case .sessionExpired = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.stub.requests(to: "/uploads").isEmpty)
    }

    @Test("a replay after a 401 has a token that outlasts another upload") func replayed() async throws {
        let app = try await app(lifetime: 300, age: .zero)
        app.backend.beforeCall { request in
            guard request.path == "/uploads", request.bearer == "access-1" else { return nil }
            // The token is rejected at the end of the body. Another call renewed it long before.
            app.backend.invalidateAccessTokens()
            #expect(await app.call().isSuccess)
            app.time.advance(by: .seconds(220))
            return nil
        }
        try await app.client.send(Upload(body(claiming: 100_000_000)))
        #expect(app.backend.refreshCalls == 2)
        #expect(app.transport.requests(to: "/uploads").map(\.bearer) == ["access-1", "access-3"])
    }

    @Test("many uploads at once share one refresh") func shared() async throws {
        let app = try await app(lifetime: 200, age: .seconds(174))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { try? await app.client.send(Upload(body(claiming: 500_000_000))) }
            }
        }
        #expect(app.backend.refreshCalls == 1)
        #expect(app.transport.requests(to: "/uploads").count == 50)
    }

    @Test("the length of every measurable body is known") func lengths() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("a.bin", Data(count: 1234))
            var form = MultipartForm()
            form.append(fileAt: path, named: "a")
            let chunks = Chunks(chunks: [Data("x".utf8)])
            func length(_ body: RequestBody) async throws -> Int64? {
                try await PreparedBody(body, length: body.measured(), encoder: .martlet).length
            }
            #expect(try await length(.file(at: path)) == 1234)
            #expect(try await length(.file(at: path + "none")) == nil)
            #expect(try await length(.multipart(form)) == form.contentLength())
            #expect(try await length(.bytes(Data(count: 7))) == 7)
            #expect(try await length(.json([1, 2])) == 5)
            #expect(try await length(.stream(length: 3, contentType: nil) { ByteStream(chunks) }) == 3)
            #expect(try await length(.singleUse(chunks)) == nil)
            #expect(try await length(.singleUse(chunks, length: 1)) == 1)
        }
    }

    // MARK: - Expect: 100-continue

    /// A transport that supports `Expect: 100-continue`.
    private struct ExpectingTransport: Transport {
        let stub: StubTransport
        var waitsForContinue: Bool { true }
        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            try await stub.send(request, body: body)
        }
    }

    @Test("a server that answers 417 gets the body without the expectation") func expectationFailed() async throws {
        let stub = StubTransport { request in request.headers[.expect] == nil ? .status(204) : .status(417) }
        try await client(ExpectingTransport(stub: stub)).send(Call<NoContent>.post("/1", body(claiming: 1 << 30)))
        #expect(stub.requests.map { $0.headers[.expect] } == ["100-continue", nil])
    }

    @Test("an Expect field that the app sets itself stays, and a 417 is an error", arguments: [1, 1 << 30] as [Int64])
    func ownExpectation(length: Int64) async throws {
        let stub = StubTransport { request in request.headers[.expect] == nil ? .status(204) : .status(417) }
        let call = Call<NoContent>.post("/1", body(claiming: length), headers: [.expect: "100-continue"])
        let failure = await error { try await client(ExpectingTransport(stub: stub)).send(call) }
        #expect(failure?.response?.status == 417)
        #expect(stub.requests.map { $0.headers[.expect] } == ["100-continue"])
    }

    @Test(
        "a single-use body is sent without an expectation, so that a 417 cannot spend it") func expectationOfSingleUse()
        async throws
    {
        let stub = StubTransport { request in request.headers[.expect] == nil ? .status(204) : .status(417) }
        let chunks = Chunks(chunks: [Data(count: 1 << 20)])
        try await client(ExpectingTransport(stub: stub)).send(
            Call<NoContent>.post("/1", .singleUse(chunks, length: 1 << 20)))
        try await client(ExpectingTransport(stub: stub)).send(Call<NoContent>.post("/2", .singleUse(chunks)))
        #expect(stub.requests.map { $0.headers[.expect] } == [nil, nil])
    }

    @Test("a large body is announced with Expect: 100-continue if the transport supports it") func expect() async throws
    {
        let stub = StubTransport { _ in .status(204) }
        let client = client(ExpectingTransport(stub: stub))
        try await client.send(Call<NoContent>.post("/1", body(claiming: 1 << 20)))
        try await client.send(Call<NoContent>.post("/2", body(claiming: 1 << 20 - 1)))
        try await client.send(Call<NoContent>.post("/3"))
        try await MartletTests.client(stub).send(Call<NoContent>.post("/4", body(claiming: 1 << 30)))
        try await MartletTests.client(ExpectingTransport(stub: stub)) { $0.expectContinueThreshold = nil }
            .send(Call<NoContent>.post("/5", body(claiming: 1 << 30)))
        #expect(stub.requests.map { $0.headers[.expect] } == ["100-continue", nil, nil, nil, nil])
    }
}
