import AsyncHTTPClient
import Foundation
import ReferenceBackend
import Testing

@Suite("Content that names its session", .timeLimit(.minutes(10)))
struct SessionContentTests {
    @Test("The content and the cookie are those of the session, and the entity tag is that of all sessions")
    func content() async throws {
        try await withBackend(.header) { _, client in
            let ada = client.with(try await TestSession(on: client).accessToken)
            let bob = client.with(try await TestSession(on: client).accessToken)
            let (first, second) = (try await ada.get("/session/content"), try await bob.get("/session/content"))
            let session = try #require(first["session"]?.stringValue)
            #expect(second["session"]?.stringValue.map { $0 != session } == true)
            #expect(first.header("Set-Cookie") == "session=\(session); Path=/")
            #expect(first.header("ETag") == second.header("ETag"))
            #expect(first["cookie"] == .null)
            let again = try await ada.get("/session/content", headers: [("Cookie", "a=b; session=\(session)")])
            #expect(again["cookie"]?.stringValue == session)
            #expect(try await client.get("/session/content").status == 401)
        }
    }

    @Test("Content with the client's entity tag is not sent again")
    func validation() async throws {
        try await withBackend(.header) { _, client in
            let ada = client.with(try await TestSession(on: client).accessToken)
            let tag = try #require(try await ada.get("/session/content").header("ETag"))
            let same = try await ada.get("/session/content", headers: [("If-None-Match", tag)])
            #expect(same.status == 304 && same.bytes.isEmpty)
            #expect(try await ada.get("/session/content", headers: [("If-None-Match", "\"other\"")]).status == 200)
        }
    }

    @Test("A file of the session is sent whole, from an offset, or breaks off")
    func file() async throws {
        try await withBackend(.header) { _, client in
            let ada = client.with(try await TestSession(on: client).accessToken)
            let whole = try await ada.get("/session/file?lines=3")
            let lines = whole.text.split(separator: "\n")
            #expect(whole.status == 200 && lines.count == 3 && Set(lines).count == 1)
            let tag = try #require(whole.header("ETag"))
            let size = whole.bytes.count

            let rest = try await ada.get("/session/file?lines=3", headers: [("Range", "bytes=10-"), ("If-Range", tag)])
            #expect(rest.status == 206 && rest.bytes == Array(whole.bytes.dropFirst(10)))
            #expect(rest.header("Content-Range") == "bytes 10-\(size - 1)/\(size)")
            let changed = [("Range", "bytes=10-"), ("If-Range", "\"other\"")]
            #expect(try await ada.get("/session/file?lines=3", headers: changed).status == 200)
            let beyond = try await ada.get("/session/file?lines=3", headers: [("Range", "bytes=\(size)-")])
            #expect(beyond.status == 416 && beyond.header("Content-Range") == "bytes */\(size)")

            await #expect(throws: (any Error).self) { try await ada.get("/session/file?lines=3&breakAt=10") }
            #expect(try await ada.get("/session/file?lines=0").status == 400)
        }
    }
}
