import Martlet
import MartletTesting
import Testing

@Suite("The public interface", .timeLimit(.minutes(10))) struct PublicInterfaceTests {
    @Test("a manager can be made from literals and static members") func literals() async {
        let tokens = TokenManager(
            baseURL: "https://api.example.com/v1", store: .inMemory, refresher: .json(path: "/auth/refresh"))
        #expect(tokens.state == .loading)
        #expect(await tokens.restore() == .signedOut)
    }

    @Test("a listener that asks for nothing else still learns the session state") func statesLoad() async {
        let tokens = TokenManager(
            baseURL: "https://api.example.com/v1", store: .inMemory, refresher: .json(path: "/auth/refresh"))
        for await state in tokens.states where state != .loading {
            #expect(state == .signedOut)
            break
        }
    }

    @Test("state streams end with the manager") func listenersEnd() async {
        var tokens: TokenManager? = TokenManager(
            baseURL: "https://api.example.com/v1", store: .inMemory, refresher: .json(path: "/auth/refresh"))
        await tokens?.restore()
        var states = tokens?.states.makeAsyncIterator()
        #expect(await states?.next() == .signedOut)
        tokens = nil
        #expect(await states?.next() == nil)
    }

    @Test("every shorthand for a call takes a query, header fields and, where it may have one, a body")
    func shorthands() async throws {
        let transport = StubTransport { _ in .status(204) }
        let client = client(transport)
        let (query, fields, body): (Query, HTTPFields, String) = (["a": 1], [.from: "b"], "c")
        for call in [
            Call<NoContent>.get("/x", query: query, headers: fields),
            .post("/x", .json(body), query: query, headers: fields),
            .put("/x", .json(body), query: query, headers: fields),
            .patch("/x", .json(body), query: query, headers: fields),
            .delete("/x", query: query, headers: fields),
        ] {
            try await client.send(call)
        }
        #expect(transport.requests.map(\.method) == [.get, .post, .put, .patch, .delete])
        #expect(transport.requests.allSatisfy { $0.path == "/x?a=1" && $0.headers[.from] == "b" })
        #expect(transport.requests.map(\.text) == ["", "\"c\"", "\"c\"", "\"c\"", ""])
    }

    @Test("a sign-in without a manager sends nothing, because its session would be lost")
    func signInWithoutManager() async throws {
        let transport = StubTransport { _ in .json(#"{"accessToken":"a","refreshToken":"b"}"#) }
        let client = client(transport)
        let failure = await error { try await client.signIn(Get("/login", .none), as: NoContent.self) }
        guard case .invalidRequest(let call, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(call.attempts == 0)
        #expect(transport.requests.isEmpty)
    }

    @Test("a call can be built inline, and a sign-in request names its response") func calls() async throws {
        let app = App()
        let backend = app.backend
        backend.beforeCall { request in
            guard request.path == "/login" else { return nil }
            let tokens = backend.issue()
            return .json(#"{"accessToken":"\#(tokens.accessToken.reveal())","path":"login","token":"t"}"#)
        }
        let who = try await app.client.signIn(Call<Echo>.post("/login", .json(["name": "Ada"])))
        #expect(who.path == "login")
        let me = try await app.client.send(Call<Echo>.get("/me", query: ["a": 1]))
        #expect(me.token == "seen")
        #expect(app.transport.requests.last?.path == "/me?a=1")
    }
}
