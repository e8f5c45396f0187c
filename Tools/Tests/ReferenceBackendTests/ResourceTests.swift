import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import ReferenceBackend
import Testing

@Suite("Resources", .timeLimit(.minutes(10)))
struct ResourceTests {
    @Test("An article is created, found, changed and deleted")
    func articles() async throws {
        try await withBackend(.header) { _, client in
            let mine = client.with(try await TestSession(on: client).accessToken)
            let created = try await mine.post("/articles", ["title": "Wrens", "body": "They are small."])
            #expect(created.status == 201)
            let id = try #require(created["id"]?.stringValue)
            let createdAt = try #require(created["createdAt"]?.stringValue)
            #expect(createdAt.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            #expect(try await mine.get("/articles/\(id)").json == created.json)

            let changed = try await mine.send("PATCH", "/articles/\(id)", json: ["title": "Martlets"])
            #expect(changed["title"] == "Martlets")
            #expect(changed["body"] == "They are small.")
            let incomplete = try await mine.send("PUT", "/articles/\(id)", json: ["title": "Martlets"])
            #expect(incomplete.status == 422)

            let other = client.with(try await TestSession(on: client).accessToken)
            #expect(try await other.send("DELETE", "/articles/\(id)").status == 403)
            let deleted = try await mine.send("DELETE", "/articles/\(id)")
            #expect(deleted.status == 204)
            #expect(deleted.bytes.isEmpty)
            #expect(try await mine.get("/articles/\(id)").status == 404)
        }
    }

    @Test("A request with the idempotency key of an earlier one creates nothing, and gets the same article")
    func idempotency() async throws {
        try await withBackend(.header) { _, client in
            let mine = client.with(try await TestSession(on: client).accessToken)
            func create(_ client: TestClient, _ key: String) async throws -> TestResponse {
                try await client.post(
                    "/articles", ["title": "Wrens", "body": "_"], headers: [("Idempotency-Key", key)])
            }
            let created = try await create(mine, "one")
            let repeated = try await create(mine, "one")
            #expect(created.status == 201 && repeated.status == 201 && repeated["id"] == created["id"])
            #expect(try await create(mine, "two")["id"] != created["id"])
            let other = client.with(try await TestSession(on: client).accessToken)
            #expect(try await create(other, "one")["id"] != created["id"], "a key belongs to its user")
            #expect(try await mine.get("/articles")["totalItems"] == 3)
            _ = try await mine.send("DELETE", "/articles/\(try #require(created["id"]?.stringValue))")
            #expect(try await create(mine, "one").status == 409)
        }
    }

    @Test("Articles are listed in pages, newest first, and searched literally")
    func pages() async throws {
        try await withBackend(.header) { _, client in
            let mine = client.with(try await TestSession(on: client).accessToken)
            for number in 1...5 {
                _ = try await mine.post("/articles", ["title": .string("Article \(number)%"), "body": "_"])
            }
            let page = try await mine.get("/articles?page=2&size=2")
            #expect(page["items"]?.arrayValue?.map { $0["title"] } == ["Article 3%", "Article 2%"])
            #expect(page["totalItems"] == 5)
            #expect(page["totalPages"] == 3)
            #expect(try await mine.get("/articles?query=4%25")["totalItems"] == 1)
            #expect(try await mine.get("/articles?query=%25%25")["totalItems"] == 0)
            #expect(try await mine.get("/articles?size=0").status == 400)
            #expect(try await mine.get("/articles?page=9223372036854775807").status == 400)
        }
    }

    @Test("Each part of an upload is measured, and a raw body counts as one part")
    func uploads() async throws {
        try await withBackend(.header) { _, client in
            let mine = client.with(try await TestSession(on: client).accessToken)
            let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            var form = TestForm()
            form.add("note", "hello")
            form.add("file", filename: "a.bin", contentType: "application/octet-stream", content)
            let parts = try await mine.postMultipart("/uploads", form).json.arrayValue
            #expect(parts?.map { $0["name"] } == ["note", "file"])
            #expect(parts?.last?["filename"] == "a.bin")
            #expect(parts?.last?["size"] == 300_000)
            #expect(parts?.last?["sha256"]?.stringValue == content.sha256)
            let raw = try await mine.send("POST", "/uploads", body: .bytes(ByteBuffer(bytes: content)))
            #expect(raw.json.arrayValue?.first?["sha256"]?.stringValue == content.sha256)
        }
    }

    @Test("A body that is too large is rejected with 413, with or without a length")
    func tooLarge() async throws {
        try await withBackend(
            .header,
            configure: {
                $0.maxUploadBytes = 1000
                $0.maxImageBytes = 2000
            }
        ) { _, client in
            let mine = client.with(try await TestSession(on: client).accessToken)
            let content = [UInt8](repeating: 1, count: 100_000)
            let announced = try await mine.send("POST", "/uploads", body: .bytes(ByteBuffer(bytes: content)))
            #expect(announced.status == 413)
            let chunks = (0..<10).map { _ in ByteBuffer(repeating: 1, count: 10_000) }
            let stream = HTTPClientRequest.Body.stream(AsyncChunks(chunks: chunks), length: .unknown)
            #expect(try await mine.send("POST", "/uploads", body: stream).status == 413)
            var form = TestForm()
            form.add("name", "Wren")
            form.add("image", filename: "a.png", contentType: "image/png", Array(content.prefix(3000)))
            #expect(try await client.postMultipart("/auth/guest/register", form).status == 413)
            let large = JSONValue.string(String(repeating: "x", count: 2 << 20))
            #expect(try await client.post("/auth/login", ["email": large]).status == 413)
        }
    }

    @Test("Malformed requests are rejected")
    func malformed() async throws {
        try await withBackend(.header) { _, client in
            let text = [("Content-Type", "text/plain")]
            let json = ("Content-Type", "application/json")
            func body(_ text: String) -> HTTPClientRequest.Body { .bytes(ByteBuffer(string: text)) }
            #expect(try await client.send("POST", "/auth/login", headers: [json], body: body("{")).status == 400)
            #expect(try await client.send("POST", "/auth/login", headers: [json], body: body("[1]")).status == 400)
            let guest = try await client.send("POST", "/auth/guest/register", headers: text, body: body("x"))
            #expect(guest.status == 415)
            let multipart = [("Content-Type", "multipart/form-data; boundary=b")]
            let truncated = try await client.send(
                "POST", "/auth/guest/register", headers: multipart, body: body("--b\r\n"))
            #expect(truncated.status == 400)
            #expect(try await client.send("DELETE", "/me").status == 405)
            #expect(try await client.send("DELETE", "/me").header("Allow") == "GET")
        }
    }

    @Test("Ping needs no user, and the feed accepts any request without an invalid token")
    func signedOut() async throws {
        try await withBackend(.header) { _, client in
            let mine = client.with(try await TestSession(on: client).accessToken)
            let anonymous = try await client.get("/public/ping")
            #expect(anonymous["authorizationSeen"] == false)
            let seen = try await client.with("garbage").get("/public/ping")
            #expect(seen["authorizationSeen"] == true)
            #expect(seen["authorizationValid"] == false)
            #expect(try await mine.get("/public/ping")["authorizationValid"] == true)
            #expect(try await client.get("/feed")["viewer"] == .some(.null))
            #expect(try await mine.get("/feed")["viewer", "name"] == "Wren")
            #expect(try await client.with("garbage").get("/feed").status == 401)
        }
    }

    @Test("HEAD responds like GET, without the content")
    func head() async throws {
        try await withBackend(.header) { _, client in
            let get = try await client.get("/public/ping")
            let head = try await client.send("HEAD", "/public/ping")
            #expect(head.status == 200)
            #expect(head.bytes.isEmpty)
            #expect(head.header("Content-Length") == get.header("Content-Length"))
        }
    }

    @Test("An account signs in with its password only, and its address cannot be registered again")
    func accounts() async throws {
        try await withBackend(.header) { _, client in
            let account: JSONValue = ["email": "wren@example.org", "password": "correct horse", "name": "Wren"]
            #expect(try await client.post("/auth/register", account).status == 201)
            #expect(try await client.post("/auth/register", account).status == 409)
            let wrong = try await client.post("/auth/login", ["email": "wren@example.org", "password": "wrong"])
            #expect(wrong.status == 401)
            let unknown = try await client.post("/auth/login", ["email": "x@example.org", "password": "wrong"])
            #expect(unknown["message"] == wrong["message"])
            #expect(try await client.post("/auth/login", account).status == 200)
        }
    }

    @Test("The standard password cost works")
    func standardPasswords() async throws {
        try await withBackend(.header, configure: { $0.passwordHashing = .standard }) { _, client in
            let account: JSONValue = ["email": "wren@example.org", "password": "correct horse"]
            let registered = try await client.post("/auth/register", account)
            #expect(registered.status == 201)
            let signedIn = try await client.post("/auth/login", account)
            #expect(signedIn.status == 200)
        }
    }
}

extension [UInt8] {
    fileprivate var sha256: String {
        SHA256.hash(data: self).map { String(format: "%02x", $0) }.joined()
    }
}

/// Buffers as a stream of unknown length.
struct AsyncChunks: AsyncSequence, Sendable {
    let chunks: [ByteBuffer]

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<ByteBuffer>
        mutating func next() async -> ByteBuffer? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: chunks[...]) }
}
