import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Presets for servers", .timeLimit(.minutes(10))) struct ServerPresetTests {
    @Test("the refresh request is the documented one", arguments: ServerCase.all)
    func request(server: ServerCase) async throws {
        let stub = StubTransport { _ in server.good }
        try await signedIn(to: server, over: stub).refresh()
        let sent = try #require(stub.requests.first)
        #expect(stub.requests.count == 1)
        #expect("\(sent.method) https://\(sent.request.authority ?? "")\(sent.path)" == server.line)
        var headers = sent.headers
        headers[.accept] = nil
        #expect(Dictionary(headers) == Dictionary(server.headers))
        if let json = server.json {
            #expect(try JSONDecoder().decode([String: String].self, from: sent.body) == json)
        } else {
            #expect(sent.text == server.form ?? "")
        }
    }

    @Test("the response is understood", arguments: ServerCase.all)
    func response(server: ServerCase) async throws {
        let store = InMemoryTokenStore()
        let stub = StubTransport { _ in server.good }
        try await signedIn(to: server, over: stub, store: store).refresh()
        guard case .found(let record) = await store.read() else {
            Issue.record("nothing was stored")
            return
        }
        #expect(record.tokens.accessToken.reveal() == server.issued.access)
        // A server that issues no refresh token leaves the old one in use.
        #expect(record.tokens.refreshToken?.reveal() == server.issued.refresh ?? "refresh-1")
        #expect(record.tokens.lifetime == server.issued.seconds.map { .seconds($0) })
    }

    @Test("a dead refresh token ends the session", arguments: ServerCase.all)
    func dead(server: ServerCase) async throws {
        for (name, response) in server.dead {
            let tokens = try await signedIn(to: server, over: StubTransport { _ in response })
            await #expect(throws: SessionError.self, "\(name)") { try await tokens.refresh() }
            guard case .expired(.refreshTokenRejected) = tokens.state else {
                Issue.record("\(name): \(tokens.state)")
                continue
            }
        }
    }

    @Test("a temporary failure keeps the session", arguments: ServerCase.all)
    func temporary(server: ServerCase) async throws {
        let portal = StubTransport.Response(200, body: Data("<html>Welcome to the hotel</html>".utf8))
        let failures = server.temporary.merging(["unavailable": .status(503), "a captive portal": portal]) { $1 }
        for (name, response) in failures {
            let tokens = try await signedIn(to: server, over: StubTransport { _ in response })
            await #expect(throws: SessionError.self, "\(name)") { try await tokens.refresh() }
            #expect(tokens.state.isSignedIn, "\(name)")
        }
    }

    @Test("the response to a sign-in at Devise-JWT carries a token that renews itself") func deviseSignIn() throws {
        let head = HTTPResponse(status: .ok, headerFields: [.authorization: "Bearer a"])
        let response = ServerResponse(head: head, body: Data(#"{"email":"ada@example.com"}"#.utf8))
        let tokens = try HTTPTokenRefresher.deviseJWT(path: "/users/renew").tokens(inSignInResponse: response)
        #expect(tokens.accessToken.reveal() == "a" && tokens.refreshToken?.reveal() == "a")
    }

    @Test("the response to a sign-in at Firebase is in camel case") func firebaseSignIn() throws {
        let body = Data(#"{"idToken":"i","refreshToken":"r","expiresIn":"3600","localId":"1"}"#.utf8)
        let tokens = try HTTPTokenRefresher.firebase(apiKey: "k").tokens(
            inSignInResponse: ServerResponse(head: HTTPResponse(status: .ok), body: body))
        #expect(tokens.accessToken.reveal() == "i" && tokens.refreshToken?.reveal() == "r")
        #expect(tokens.lifetime == .seconds(3600))
    }

    @Test("a refresh at Cognito carries the key of a remembered device, and keeps it for the next one")
    func cognitoDevice() async throws {
        let good = ServerCase.all.first { $0.name == "Cognito" }?.good
        let response = try #require(good)
        let stub = StubTransport { _ in response }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory,
            refresher: .cognito(region: "eu-central-1", clientID: "app"), transport: stub, time: ManualTimeSource())
        try await tokens.signIn(
            with: Tokens(
                accessToken: "access-1", refreshToken: "refresh-1",
                additionalFields: ["DeviceKey": "eu-central-1_device", "id_token": "id"]))
        for _ in 1...2 { try await tokens.refresh() }
        let sent = try stub.requests.map { try JSONDecoder().decode([String: String].self, from: $0.body) }
        let expected = ["RefreshToken": "refresh-1", "ClientId": "app", "DeviceKey": "eu-central-1_device"]
        #expect(sent == [expected, expected])
    }

    private func signedIn(
        to server: ServerCase, over stub: StubTransport, store: InMemoryTokenStore = InMemoryTokenStore()
    ) async throws -> TokenManager {
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: server.refresher, transport: stub,
            time: ManualTimeSource())
        try await tokens.signIn(with: .fresh(1))
        return tokens
    }
}

extension [HTTPField.Name: String] {
    /// The fields by name.
    fileprivate init(_ fields: HTTPFields) {
        self.init(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
    }
}
