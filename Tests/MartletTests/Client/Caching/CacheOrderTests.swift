import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("The response that counts", .timeLimit(.minutes(10))) struct CacheOrderTests {
    private static let jwtA = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJBIn0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    private static let jwtB = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJCIn0.BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"

    /// Sets a JWT in a field with a harmless name.
    private struct JWTField: RequestInterceptor {
        let token: Locked<String>
        let name: String
        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            request.headerFields[(HTTPField.Name(name) ?? .server)] = token.withLock { $0 }
        }
    }

    @Test("of several Age fields, the first counts") func ageList() async throws {
        var fields: HTTPFields = [.cacheControl: "max-age=60"]
        fields.append(HTTPField(name: .age, value: "59"))
        fields.append(HTTPField(name: .age, value: "1"))
        let app = CachingApp(fields)
        _ = try await app.client.text(Visit("/a"))
        app.advance(5)
        #expect(try await app.client.text(Visit("/a")) == "2")
    }

    @Test("a stored response is not used again after a 404 that forbids storing") func resurrected() async throws {
        let app = CachingApp { request in
            request.number == 2
                ? .status(404, headers: [.cacheControl: "no-store"])
                : .counted(request, [.cacheControl: "max-age=600", .eTag: "\"1\""])
        }
        _ = try await app.client.text(Visit("/a"))
        await #expect(throws: NetworkError.self) {
            _ = try await app.client.text(Visit("/a", headers: [.cacheControl: "no-cache"]))
        }
        #expect(try await app.client.text(Visit("/a")) == "3")
    }

    @Test("a failure does not bring back a response that a 410 has replaced") func gone() async throws {
        let app = CachingApp { request in
            switch request.number {
            case 1: .counted(request, [.cacheControl: "max-age=0, stale-if-error=9999", .eTag: "\"1\""])
            case 2: .status(410)
            default: .status(503)
            }
        }
        _ = try await app.client.text(Visit("/a"))
        await #expect(throws: NetworkError.self) { _ = try await app.client.text(Visit("/a")) }
        await #expect(throws: NetworkError.self) { _ = try await app.client.text(Visit("/a")) }
    }

    @Test("an older response that arrives late does not replace a newer one") func lateOlder() async throws {
        let gate = Gate()
        let app = CachingApp { request in
            if request.number == 1 { await gate.pass() }
            return .counted(
                request,
                [
                    .cacheControl: "max-age=600",
                    .date: request.number == 1 ? "Mon, 21 Sep 2026 14:12:40 GMT" : "Mon, 21 Sep 2026 14:13:10 GMT",
                ])
        }
        let client = app.client
        let first = Task { try await client.text(Visit("/a")) }
        await gate.waitForArrivals()
        #expect(try await client.text(Visit("/a")) == "2")
        gate.open()
        #expect(try await first.value == "1")
        #expect(try await client.text(Visit("/a")) == "2")
    }

    @Test(
        "the cache keeps users apart whose JWT is in a field of another name",
        arguments: ["X-JWT", "X-Identity", "Authentication", "X-Credentials"])
    func jwtCache(name: String) async throws {
        let token = Locked(Self.jwtA)
        let transport = StubTransport { request in .counted(request, [.cacheControl: "max-age=60"]) }
        let client = client(transport) {
            $0.cache = HTTPCache()
            $0.interceptors = [JWTField(token: token, name: name)]
        }
        #expect(try await client.text(Visit("/me")) == "1")
        token.withLock { $0 = Self.jwtB }
        #expect(try await client.text(Visit("/me")) == "2")
    }
}
