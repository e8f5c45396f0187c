import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("The order of header fields", .timeLimit(.minutes(10))) struct HeaderFieldOrderTests {
    /// Adds a field when a call is prepared, and one before each attempt.
    private struct Marker: RequestInterceptor {
        let prepared: HTTPField.Name
        let adapted: HTTPField.Name

        func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            request.headerFields[prepared] = "1"
        }

        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            request.headerFields[adapted] = "1"
        }
    }

    /// The article that documents the order.
    private static let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Sources/Martlet/Martlet.docc/ACallFromStartToEnd.md")

    /// The recorded requests of the article: each line has a step and a field, or a method and a path.
    private static func documentedRequests() throws -> [[String]] {
        let text = try String(contentsOf: article, encoding: .utf8)
        let parts = text.components(separatedBy: "<!-- recorded: header fields -->\n```\n")
        let lines = try #require(parts.dropFirst().first).components(separatedBy: "\n```")[0].split(separator: "\n")
        return lines.reduce(into: []) { requests, line in
            if line.hasPrefix(" ") {
                requests[requests.count - 1].append(String(line.split(separator: " ")[1]))
            } else {
                requests.append([String(line)])
            }
        }
    }

    @Test("a range is asked for without a content coding, unless the endpoint names one", arguments: [nil, "gzip"])
    func range(coding: String?) async throws {
        let stub = StubTransport { _ in .status(206) }
        var call = Call<NoContent>.get("/film", authentication: .none)
        call.headers[.range] = "bytes=1000-1999"
        call.headers[.acceptEncoding] = coding
        _ = try await client(stub).data(for: call)
        #expect(stub.requests.map { $0.headers[.acceptEncoding] } == [coding ?? "identity"])
    }

    @Test("the requests on the wire have the fields of the article, in its order") func recorded() async throws {
        let stub = StubTransport { request in
            if request.headers[.ifNoneMatch] != nil { return .status(304) }
            var headers: HTTPFields = [.eTag: "\"1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
            if request.headers[.cookie] == nil { headers[.setCookie] = "sid=1; Path=/" }
            return StubTransport.Response(200, headers: headers, body: Data("[]".utf8))
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: stub, connectivity: nil, time: ManualTimeSource())
        try await tokens.signIn(with: Tokens(accessToken: "access", refreshToken: "refresh"))
        let names = try ["X-Client", "X-Endpoint", "X-Prepared", "X-Adapted"].map { try #require(HTTPField.Name($0)) }
        let client = NetworkClient(
            tokens: tokens,
            config: config {
                $0.headers[names[0]] = "1"
                $0.interceptors = [Marker(prepared: names[2], adapted: names[3])]
                $0.cookies = CookieJar()
                $0.cache = HTTPCache()
            })
        let read = Call<[String]>(.get, "/articles", headers: [names[1]: "1"])
        // The first response sets the cookie, the second one is stored, and the third request asks about it.
        for _ in 1...2 { _ = try await client.send(read) }
        _ = try await client.send(Call<[String]>(.post, "/articles", headers: [names[1]: "1"], body: .json(["Wrens"])))
        for _ in 1...2 { _ = try await client.send(read) }
        let recorded = stub.requests.map { request in
            ["\(request.method.rawValue) \(request.path)"] + request.headers.map(\.name.rawName)
        }
        #expect(try Self.documentedRequests() == [recorded[2], recorded[4]])
    }
}
