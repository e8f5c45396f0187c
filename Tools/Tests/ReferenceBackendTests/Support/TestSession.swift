import ReferenceBackend
import Testing

/// What a sign-in handed out, read from whatever shape the dialect gives it.
struct TestSession {
    var accessToken: String
    var refreshToken: String
    var user: JSONValue

    /// - Parameter otherwise: The refresh token where the answer holds none.
    init(_ answer: TestAnswer, otherwise: String? = nil) throws {
        let body = answer.json["data"] ?? answer.json["result"] ?? answer.json
        accessToken = try #require((body["accessToken"] ?? body["access_token"] ?? body["token"])?.stringValue)
        let cookie = answer.header("Set-Cookie").flatMap(Self.cookieValue)
        refreshToken = try #require(
            (body["refreshToken"] ?? body["refresh_token"])?.stringValue ?? cookie ?? otherwise)
        user = body["user"] ?? .null
    }

    /// Registers a guest.
    init(guestNamed name: String = "Wren", on client: TestClient) async throws {
        var form = TestForm()
        form.add("name", name)
        try self.init(try await client.postMultipart("/auth/guest/register", form))
    }

    static func cookieValue(_ field: String) -> String? {
        let pair = field.prefix { $0 != ";" }
        return pair.split(separator: "=", maxSplits: 1).last.map(String.init)
    }
}

extension TestClient {
    /// Refreshes as the dialect wants it.
    func refresh(_ token: String, _ dialect: Dialect) async throws -> TestAnswer {
        switch dialect {
        case .envelope, .legacy419: try await post("/auth/refresh", ["refreshToken": .string(token)])
        case .oauth2: try await postForm("/oauth/token", "grant_type=refresh_token&refresh_token=\(token)")
        case .header: try await get("/auth/refresh", headers: [("refresh-token", token)])
        case .reissue: try await post("/auth/reissue", ["refreshToken": .string(token)])
        case .cookie: try await post("/auth/refresh", headers: [("Cookie", "refresh_token=\(token)")])
        }
    }
}

/// Runs a backend for the length of a test.
func withBackend<Result: Sendable>(
    _ dialect: Dialect = .envelope, configure: (inout BackendConfiguration) -> Void = { _ in },
    _ test: (ReferenceBackend, TestClient) async throws -> Result
) async throws -> Result {
    var configuration = BackendConfiguration.testing(dialect)
    configure(&configuration)
    return try await ReferenceBackend.withRunning(configuration) { backend in
        try await test(backend, TestClient(backend))
    }
}
