import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Responses that reject an access token", .timeLimit(.minutes(10))) struct AccessTokenRejectionTests {
    private static let passwordIsNoToken = AccessTokenRejectionRule { response, request in
        response.status == 401 && !(request.method == .put && request.path == "/v1/me/password")
    }

    private func manager(_ stub: StubTransport, rejection: AccessTokenRejectionRule = passwordIsNoToken) async throws
        -> TokenManager
    {
        let tokens = TokenManager(
            baseURL: "https://api.example.com/v1", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            accessTokenRejection: rejection, transport: stub, time: ManualTimeSource())
        try await tokens.signIn(with: .fresh(1))
        return tokens
    }

    @Test("a wrong current password is the error of its call, and refreshes nothing") func wrongPassword() async throws
    {
        let stub = StubTransport { request in
            .status(request.path == "/v1/me/password" || request.bearer == "access-1" ? 401 : 204)
        }
        stub.when("the refresh") { $0.path == "/v1/auth/refresh" }.respond(.tokens(.fresh(2)))
        let client = NetworkClient(tokens: try await manager(stub))
        await #expect {
            try await client.send(Call<NoContent>(.put, "/me/password"))
        } throws: {
            if case NetworkError.unauthorized = $0 { true } else { false }
        }
        #expect(stub.requests.map(\.description) == ["PUT /v1/me/password"])
        try await client.send(Call<NoContent>(.get, "/me"))
        #expect(stub.requests(to: "/v1/auth/refresh").count == 1)
    }

    @Test("another client's requests are judged by the same rule") func otherClients() async throws {
        let stub = StubTransport()
        stub.when("the refresh") { $0.path == "/v1/auth/refresh" }.respond(.tokens(.fresh(2)))
        let tokens = try await manager(stub)
        for (method, replays) in [(HTTPRequest.Method.put, false), (.post, true)] {
            var request = HTTPRequest(
                method: method, scheme: "https", authority: "api.example.com", path: "/v1/me/password")
            try await tokens.sign(&request)
            #expect(try await tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request) == replays)
        }
        #expect(stub.requests.count == 1)
    }

    @Test("a rule never sees the token") func noToken() async throws {
        let seen = Locked<[HTTPFields]>([])
        let rule = AccessTokenRejectionRule { _, request in
            seen.withLock { $0.append(request.headerFields) }
            return false
        }
        let stub = StubTransport { _ in .status(401) }
        let tokens = try await manager(stub, rejection: rule.or(.status(419)))
        _ = try? await NetworkClient(tokens: tokens).send(Call<NoContent>(.get, "/me"))
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/v1/me")
        try await tokens.sign(&request)
        #expect(try await tokens.recover(from: HTTPResponse(status: .unauthorized), to: &request) == false)
        #expect(stub.requests.map(\.bearer) == ["access-1"])
        let fields = seen.withLock { $0 }
        #expect(fields.count == 2)
        #expect(fields.allSatisfy { $0[.authorization] == nil })
        #expect(request.headerFields[.authorization] == "Bearer access-1")
    }
}
