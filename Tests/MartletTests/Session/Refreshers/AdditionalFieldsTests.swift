import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Further fields of a token response", .timeLimit(.minutes(10))) struct AdditionalFieldsTests {
    private func tokens(_ json: String, keeping names: [String], in containers: [String]? = nil) throws -> Tokens {
        let fields =
            containers.map { TokenFields(containers: $0, additional: names) } ?? TokenFields(additional: names)
        return try fields.tokens(from: ServerResponse(head: HTTPResponse(status: .ok), body: Data(json.utf8)))
    }

    /// A manager of a server that returns these tokens, one set for each refresh.
    private func manager(
        _ issued: Tokens..., store: any TokenStore = .inMemory,
        refresher: any TokenRefresher = .json(path: "/auth/refresh").keeping("id_token", "user")
    ) -> TokenManager {
        let transport = StubTransport()
        var route = transport.when(.post, "/auth/refresh")
        for tokens in issued { route = route.respond(.tokens(tokens)) }
        return TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: refresher, transport: transport,
            time: ManualTimeSource())
    }

    private func pair(_ number: Int, _ fields: [String: Secret]) -> Tokens {
        var tokens = Tokens.fresh(number)
        tokens.additionalFields = fields
        return tokens
    }

    @Test("only the fields that the app names are kept: a string as its text, any other value as JSON") func kept()
        throws
    {
        let json = #"""
            {"access_token":"a","id_token":"id","expires_at":1795262400,"user":{"name":"Ada","id":9007199254740993,"a/b":[1.5,true,null]},
            "provider":"x","roles":["b","a"],"level":3,"beta":false,"none":null,"empty":""}
            """#
        #expect(try tokens(json, keeping: []).additionalFields == [:])
        let all = ["id_token", "user", "roles", "level", "beta", "none", "empty", "missing"]
        let tokens = try tokens(json, keeping: all)
        #expect(
            tokens.additionalFields == [
                "id_token": "id", "user": #"{"a/b":[1.5,true,null],"id":9007199254740993,"name":"Ada"}"#,
                "roles": #"["b","a"]"#, "level": "3", "beta": "false",
            ])
        #expect(tokens.idToken == "id")
        #expect(try self.tokens(#"{"token":"a","idToken":"b"}"#, keeping: ["idToken"]).idToken == "b")
    }

    @Test("a field is found beside the access token first, then in a container or at the top level") func places()
        throws
    {
        let nested = #"{"user":"top","data":{"user":"data","tokens":{"accessToken":"a","user":"tokens"}}}"#
        #expect(try tokens(nested, keeping: ["user"]).additionalFields == ["user": "tokens"])
        let beside = #"{"data":{"user":"data","tokens":{"accessToken":"a"}}}"#
        #expect(try tokens(beside, keeping: ["user"]).additionalFields == ["user": "data"])
        let top = #"{"user":"top","result":{"accessToken":"a"}}"#
        #expect(try tokens(top, keeping: ["user"], in: ["result"]).additionalFields == ["user": "top"])
    }

    @Test("a refresh replaces the fields that its response repeats, and keeps the others, even across a restart")
    func refresh() async throws {
        let store = InMemoryTokenStore()
        let tokens = manager(.fresh(2), pair(3, ["user": #"{"name":"Grace"}"#, "other": "never kept"]), store: store)
        var first = pair(1, ["id_token": "id-1", "user": #"{"name":"Ada"}"#])
        first.tokenType = "Bearer"
        try await tokens.signIn(with: first)
        try await tokens.refresh()
        #expect(tokens.currentTokens?.accessToken == "access-2")
        #expect(tokens.currentTokens?.additionalFields == first.additionalFields)
        #expect(tokens.currentTokens?.tokenType == "Bearer")
        try await tokens.refresh()
        let expected: [String: Secret] = ["id_token": "id-1", "user": #"{"name":"Grace"}"#]
        #expect(tokens.currentTokens?.additionalFields == expected)

        let restarted = manager(store: store)
        await restarted.restore()
        #expect(restarted.currentTokens?.additionalFields == expected)
        try await restarted.signIn(with: .fresh(4))
        #expect(restarted.currentTokens?.additionalFields == [:])
    }

    @Test("a sign-in keeps the fields of its response") func signIn() async throws {
        struct Login: APIEndpoint { let path: RequestPath = "/login" }
        let transport = StubTransport()
        transport.when(Login()).respond(.tokens(pair(1, ["id_token": "id-1", "user": "Ada"])))
        for refresher: any TokenRefresher in [
            .oauth2().keeping("id_token"), .custom { tokens, _ in tokens }.keeping("id_token"),
            .custom(fields: TokenFields(additional: ["id_token"])) { tokens, _ in tokens },
        ] {
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory, refresher: refresher, transport: transport,
                time: ManualTimeSource())
            let _: NoContent = try await NetworkClient(tokens: tokens).signIn(Login())
            #expect(tokens.currentTokens?.additionalFields == ["id_token": "id-1"])
        }
    }

    @Test("more than 16 KB are not kept: the largest fields go, and no old value stands in for a new one")
    func limit() async throws {
        let large = Secret(String(repeating: "x", count: 10 << 10))
        let tokens = manager(pair(2, ["user": Secret(large.reveal() + "y")]), pair(3, ["user": "small"]))
        try await tokens.signIn(with: pair(1, ["id_token": large, "user": "Ada", "a": large]))
        #expect(tokens.currentTokens?.additionalFields == ["a": large, "user": "Ada"])
        try await tokens.refresh()
        #expect(tokens.currentTokens?.additionalFields == ["a": large])
        try await tokens.refresh()
        #expect(tokens.currentTokens?.additionalFields == ["a": large, "user": "small"])
    }

    @Test("a record of an older version is read, and an older version reads a record with fields") func versions()
        throws
    {
        struct OlderBundle: Codable { var accessToken: String, refreshToken: String? }
        struct OlderRecord: Codable { var id: String, rotation: Int, bundle: OlderBundle }
        struct OlderFile: Codable { var version: Int, session: OlderRecord }
        let plain = try StoredSession(id: SessionID(), tokens: .fresh(1)).encoded()
        #expect(!String(decoding: plain, as: UTF8.self).contains("additionalFields"))
        #expect(try StoredSession(encoded: plain).tokens.additionalFields == [:])

        let bytes = try StoredSession(id: SessionID(), tokens: pair(1, ["id_token": "id-1"])).encoded()
        #expect(try StoredSession(encoded: bytes).tokens.additionalFields == ["id_token": "id-1"])
        let older = try JSONDecoder().decode(OlderFile.self, from: bytes)
        #expect(older.version == 1 && older.session.bundle.accessToken == "access-1")
    }

    @Test("the error for a response without an access token shows no ID token", arguments: ["id_token", "idToken"])
    func errors(name: String) async throws {
        let transport = StubTransport()
        transport.when(.post, "/auth/refresh").respond(.json(#"{"\#(name)":"identity"}"#))
        let tokens = await TokenManager.signedIn(
            refresher: .json(path: "/auth/refresh").keeping(name), transport: transport)
        let error = await #expect(throws: SessionError.self) { try await tokens.refresh() }
        #expect("\(try #require(error))".contains(name))
        #expect(!"\(try #require(error))".contains("identity"))
    }

    @Test("no description, dump, event or log shows a field") func secrecy() async throws {
        let app = App()
        app.backend.state.withLock { $0.issued.formUnion(["identity-1", "ada@example.com"]) }
        var tokens = app.backend.issue()
        tokens.additionalFields = ["id_token": "identity-1", "user": #"{"mail":"ada@example.com"}"#]
        let events = app.tokens.events
        try await app.tokens.signIn(with: tokens)
        app.backend.invalidateAccessTokens()
        #expect(await app.call().isSuccess)
        let record = StoredSession(id: SessionID(), tokens: tokens)
        for value in [try #require(app.tokens.currentTokens), tokens, record, app.tokens.state] as [any Sendable] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { app.backend.expectNoToken(in: text) }
        }
        await app.tokens.signOut()
        for await event in events {
            app.backend.expectNoToken(in: "\(event) \(String(reflecting: event))")
            if case .signedOut = event { break }
        }
    }
}
