import ReferenceBackend
import Testing

/// The tokens of a sign-in response, parsed from the shape of its dialect.
struct TestSession {
    var accessToken: String
    var refreshToken: String
    var user: JSONValue

    /// - Parameter otherwise: The refresh token if the response contains none.
    init(_ response: TestResponse, otherwise: String? = nil) throws {
        let body = response.json["data"] ?? response.json["result"] ?? response.json
        accessToken = try #require((body["accessToken"] ?? body["access_token"] ?? body["token"])?.stringValue)
        let cookie = response.header("Set-Cookie").flatMap(Self.cookieValue)
        refreshToken = try #require(
            (body["refreshToken"] ?? body["refresh_token"])?.stringValue ?? cookie ?? otherwise)
        user = body["user"] ?? .null
    }

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
    /// Sends the refresh request of the dialect.
    func refresh(_ token: String, _ dialect: Dialect) async throws -> TestResponse {
        switch dialect {
        case .envelope, .legacy419: try await post("/auth/refresh", ["refreshToken": .string(token)])
        case .oauth2: try await postForm("/oauth/token", "grant_type=refresh_token&refresh_token=\(token)")
        case .header: try await get("/auth/refresh", headers: [("refresh-token", token)])
        case .reissue: try await post("/auth/reissue", ["refreshToken": .string(token)])
        case .cookie: try await post("/auth/refresh", headers: [("Cookie", "refresh_token=\(token)")])
        }
    }
}

/// Runs a backend for the duration of a test.
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
