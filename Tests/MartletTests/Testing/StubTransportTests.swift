import Foundation
import Martlet
import MartletTesting
import Testing

@Suite("A stub transport", .timeLimit(.minutes(10))) struct StubTransportTests {
    private struct Draft: Codable, Sendable, Equatable {
        var title: String
        var day: Date
    }

    private func client(_ transport: StubTransport) -> NetworkClient {
        var config = NetworkConfig()
        config.retry = .never
        return NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
    }

    @Test("an envelope answers with a value or with a failure") func envelopes() async throws {
        let transport = StubTransport()
        let draft = Draft(title: "one", day: Date(timeIntervalSince1970: 0))
        transport.when(.get, "/drafts/1").respond(.envelope(draft))
        transport.when(.post, "/drafts").respond(
            .envelope(code: "INVALID", message: "Check the fields.", errors: ["title": "is empty"], status: 422))
        var config = NetworkConfig()
        config.envelope = ResponseEnvelope()
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        #expect(try await client.send(Call<Draft>.get("/drafts/1")) == draft)
        let failure = await #expect(throws: NetworkError.self) {
            try await client.send(Call<Draft>.post("/drafts"))
        }
        guard case .api(_, let refusal) = failure else {
            Issue.record("the failure was not recognized")
            return
        }
        #expect(refusal.errors == [.init(field: "title", message: "is empty")])
    }

    @Test("requests are matched by endpoint, by method and path, or by a closure") func routes() async throws {
        let transport = StubTransport()
        let page = transport.when(Call<[Int]>.get("/articles", query: ["page": 2, "tag": "a b"])).respond(.json([2]))
        transport.when(.post, "articles").respond(.json("[3]"))
        transport.when("pictures") { $0.path.hasPrefix("/images/") }.respond(.json("[4]"))
        let client = client(transport)
        #expect(
            try await client.send(Call<[Int]>.get("/articles", query: ["tag": "a b", "more": 1, "page": 2])) == [2])
        #expect(try await client.send(Call<[Int]>.post("/articles")) == [3])
        #expect(try await client.send(Call<[Int]>.get("/images/7")) == [4])
        await #expect(throws: NetworkError.self) { try await client.send(Call<[Int]>.get("/articles")) }
        #expect(page.requests.map(\.number) == [1])
        #expect(transport.unexpectedRequests.map(\.description) == ["GET /articles"])
    }

    @Test("paths are matched below the client's base URL") func baseURL() async throws {
        let transport = StubTransport(baseURL: "https://api.example.com/v1")
        transport.when(Call<Int>.get("/count")).respond(.json("1"))
        let client = NetworkClient(
            baseURL: "https://api.example.com/v1/", config: config { $0.time = ManualTimeSource() },
            transport: transport)
        #expect(try await client.send(Call<Int>.get("count")) == 1)
    }

    @Test("responses are returned in turn, and the last one repeatedly") func turns() async throws {
        let transport = StubTransport()
        let route = transport.when(.get, "/count")
        route.respond(.json("1")).fail(with: .offline).respond { .json("\($0.number)") }
        let client = client(transport)
        let count = Call<Int>.get("/count")
        #expect(try await client.send(count) == 1)
        guard case .failure(.offline) = await result({ () async throws(NetworkError) in try await client.send(count) })
        else {
            Issue.record("the second response is not offline")
            return
        }
        #expect(try await client.send(count) == 3)
        #expect(try await client.send(count) == 4)
        route.respond(.json("9"))
        #expect(try await client.send(count) == 9)
        #expect(route.requests.count == 5)
    }

    @Test("the route added last is matched first") func override() async throws {
        let transport = StubTransport { _ in .json("0") }
        let client = client(transport)
        #expect(try await client.send(Call<Int>.get("/count")) == 0)
        transport.when(.get, "/count").respond(.json("1"))
        #expect(try await client.send(Call<Int>.get("/count")) == 1)
        transport.when(.get, "/count").respond(.json("2"))
        #expect(try await client.send(Call<Int>.get("/count")) == 2)
        #expect(try await client.send(Call<Int>.get("/other")) == 0)

        let time = ManualTimeSource()
        let below = StubTransport(baseURL: "https://api.example.com/v1", time: time) { _ in .json("0") }
        below.when(.get, "/count").wait(.seconds(5)).respond(.json("3"))
        let slow = Task {
            try await NetworkClient(
                baseURL: "https://api.example.com/v1", config: config { $0.time = ManualTimeSource() }, transport: below
            )
            .send(Call<Int>.get("/count"))
        }
        await time.waitForSleepers()
        time.advance(by: .seconds(5))
        #expect(try await slow.value == 3)
    }

    @Test("an unexpected request fails with an error that lists the routes")
    func unexpected() async throws {
        let transport = StubTransport()
        transport.when(.get, "/me").respond(.status(204))
        transport.when(.put, "/me").respond(.status(204))
        let why =
            "no response is set up for POST /articles?x=1. Responses are set up for: GET /me, PUT /me. "
            + "Add one with when(…).respond(…)."
        let post = Call<NoContent>(.post, "/articles", query: ["x": 1])
        let error = await result { () async throws(NetworkError) in try await client(transport).send(post) }.error
        #expect(error?.description == "POST https://api.example.com/articles: the transport failed: \(why)")

        let tokens = await TokenManager.signedIn(with: .expired(), transport: transport)
        let refresh = await result { () async throws(SessionError) in try await tokens.validTokens().accessToken }
            .error
        #expect("\(String(describing: refresh))".contains("no response is set up for POST /auth/refresh"))

        _ = transport.when(.get, "/none")
        let none = await result { () async throws(NetworkError) in
            try await client(transport).send(Call<NoContent>.get("/none"))
        }.error
        #expect(none?.description.contains(#"the route "GET /none" cannot respond to GET /none"#) == true)
        #expect(transport.unexpectedRequests.map(\.path) == ["/articles?x=1", "/auth/refresh", "/none"])
        let empty = await result { () async throws(NetworkError) in
            try await client(StubTransport()).send(Call<NoContent>.get("/x"))
        }.error
        #expect(empty?.description.contains("no response is set up for GET /x. Add one") == true)
    }

    @Test("responses are delayed by a clock, and a delay without a clock is an error") func delays() async throws {
        let time = ManualTimeSource()
        let transport = StubTransport(time: time)
        transport.when(.get, "/count").wait(.seconds(3600)).respond(.json("1"))
        let slow = transport
        let task = Task { try await slow.send(HTTPRequest(method: .get, url: "/count"), body: nil).head.status.code }
        await time.waitForSleepers()
        time.advance(by: .seconds(3600))
        #expect(try await task.value == 200)

        let clockless = StubTransport()
        clockless.when(.get, "/count").wait(.seconds(1)).respond(.json("1"))
        let error = await result { () async throws(NetworkError) in
            try await client(clockless).send(Call<Int>.get("/count"))
        }.error
        #expect(error?.description.contains("pass one to StubTransport(time:)") == true)
    }

    @Test("responses wait at a gate, and a cancelled request does not") func gates() async throws {
        let transport = StubTransport()
        let gate = Gate()
        transport.when(.get, "/count").hold(at: gate).respond(.json("1")).respond(.json("2"))
        let client = client(transport)
        let task = Task { try await client.send(Call<Int>.get("/count")) }
        await gate.waitForArrivals()
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        #expect(try await client.send(Call<Int>.get("/count")) == 2)
    }

    @Test("values are encoded and decoded as clients do") func values() async throws {
        let draft = Draft(title: "On the wing", day: Date(timeIntervalSince1970: 1_790_000_000))
        let transport = StubTransport()
        transport.when(.post, "/drafts").respond(.json(draft, status: 201))
        transport.when(.get, "/nan").respond(.json(Double.nan))
        let client = client(transport)
        let response = try await client.response(for: Call<Draft>.post("/drafts", .json(draft)))
        #expect(response.value == draft && response.status == 201)
        let sent = try #require(transport.requests.first)
        #expect(try sent.value(as: Draft.self) == draft)
        #expect(sent.text.contains("On the wing"))
        await #expect(throws: NetworkError.self) { try await client.send(Call<Double>.get("/nan")) }
    }
}

/// The result of a throwing call.
func result<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
) async -> Result<Value, Failure> {
    do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
}

extension HTTPRequest {
    fileprivate init(method: HTTPRequest.Method, url: String) {
        self.init(method: method, scheme: "https", authority: "api.example.com", path: url)
    }
}
