import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("What a redirected request carries", .timeLimit(.minutes(10))) struct RedirectedFieldsTests {
    private static let jwtA = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJBIn0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

    @Test(
        "a JWT in a field of another name follows no redirect to another origin",
        arguments: ["X-JWT", "X-Identity", "Authentication"])
    func jwtRedirect(name: String) async throws {
        let transport = StubTransport { request in
            request.path == "/a" ? .status(307, headers: [.location: "https://other.example.net/b"]) : .status(204)
        }
        let log = Log()
        let client = client(transport) { $0.observers = [.curl { log.add($0) }] }
        _ = try await client.text(Visit("/a", headers: [(HTTPField.Name(name) ?? .server): Self.jwtA]))
        #expect(!log.lines.contains { $0.contains(Self.jwtA) })
        #expect(transport.requests.last?.headers[(HTTPField.Name(name) ?? .server)] == nil)
    }

    /// Moves the token to another field.
    private struct Moving: RequestInterceptor {
        let name: HTTPField.Name

        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            let token = request.headerFields[.authorization]?.dropFirst("Bearer ".count)
            request.headerFields[name] = token.map(String.init)
            request.headerFields[.authorization] = nil
        }
    }

    @Test("a token that an interceptor has moved to another field stays masked, and follows no redirect elsewhere")
    func movedToken() async throws {
        let name = try #require(HTTPField.Name("X-Legacy"))
        let transport = StubTransport { request in
            request.path == "/a" ? .status(307, headers: [.location: "https://other.example.net/b"]) : .status(204)
        }
        let log = Log()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: ManualTimeSource())
        try await tokens.signIn(with: Tokens(accessToken: "opaque-1", refreshToken: "r"))
        var config = NetworkConfig()
        config.interceptors = [Moving(name: name)]
        config.observers = [.curl { log.add($0) }]
        let client = NetworkClient(tokens: tokens, config: config)
        try await client.send(Call<NoContent>.get("/a"))
        #expect(transport.requests.map { $0.headers[name] } == ["opaque-1", nil])
        #expect(!log.lines.isEmpty && !log.lines.contains { $0.contains("opaque-1") })
    }

    @Test("a GET after a redirect has no field of the former body", arguments: [303, 302])
    func contentFields(status: Int) async throws {
        let transport = StubTransport { request in
            request.path == "/a" ? .status(status, headers: [.location: "/b"]) : .status(204)
        }
        let names = [
            "Digest", "Content-Digest", "Repr-Digest", "Content-MD5", "Last-Modified", "Content-Disposition",
            "Content-Range",
        ]
        var fields: HTTPFields = [.contentType: "text/plain"]
        for name in names { fields[(HTTPField.Name(name) ?? .server)] = "x" }
        let client = client(transport)
        _ = try await client.data(
            for: Call<NoContent>(.post, "/a", headers: fields, body: .json(["a": 1])))
        let last = try #require(transport.requests.last)
        #expect(last.method == .get)
        #expect(last.headers[.contentType] == nil)
        for name in names { #expect(last.headers[(HTTPField.Name(name) ?? .server)] == nil, "\(name)") }
    }

    @Test(
        "dot segments of an absolute Location are removed",
        arguments: ["https://api.example.com/a/../b", "//api.example.com/x/./../b", "/a/../b", "../b"])
    func dots(location: String) async throws {
        let transport = StubTransport { request in
            request.path == "/a/c" ? .status(307, headers: [.location: location]) : .status(204)
        }
        _ = try await client(transport).text(Visit("/a/c"))
        #expect(transport.requests.last?.path == "/b")
    }
}
