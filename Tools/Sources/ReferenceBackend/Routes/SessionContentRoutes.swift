import HTTPTypes
import HummingbirdCore
import NIOCore

/// Content that names its session, so that a test detects a client that mixes up sessions.
extension BackendCore {
    func addSessionContentRoutes(to table: inout RouteTable) {
        table.add("GET", "/session/content", sendSessionContent)
        table.add("GET", "/session/file", sendSessionFile)
    }

    /// Names the session and the cookie of the request, and sets the session's cookie. It is fresh for two seconds. The
    /// entity tag is the same for all sessions, so a response that is confirmed for another session is wrong.
    private func sendSessionContent(_ scope: RequestScope) async throws -> Reply {
        let (_, identity) = try await authenticate(scope)
        let fields: HTTPFields = [
            .eTag: "\"content\"", .cacheControl: "private, max-age=2",
            .setCookie: "session=\(identity.familyID); Path=/",
        ]
        if scope.headers[.ifNoneMatch] == "\"content\"" { return Reply.empty(304).with(fields) }
        let content: JSONValue = [
            "session": .string(identity.familyID), "cookie": JSONValue(scope.cookie("session")),
        ]
        return rules.success(content, status: 200, scope: scope).with(fields)
    }

    /// Sends `lines` lines with the session's id, whole or from an offset. The entity tag is the same for all sessions.
    /// With `breakAt`, a transfer from the start breaks off at that offset.
    private func sendSessionFile(_ scope: RequestScope) async throws -> Reply {
        let (_, identity) = try await authenticate(scope)
        let lines = scope.query.integer("lines") ?? 1
        guard (1...100_000).contains(lines) else { throw APIError.malformed("lines must be from 1 to 100000.") }
        let file = ByteBuffer(string: String(repeating: "\(identity.familyID)\n", count: lines))
        let (size, tag) = (file.readableBytes, "\"file\"")
        var start = 0
        let isSame = scope.headers[.ifRange].map { $0 == tag } ?? true
        if isSame, let asked = scope.headers[.range].flatMap(Self.firstByte) {
            if asked >= size { return Reply.empty(416).with(.contentRange, "bytes */\(size)") }
            start = asked
        }
        let end = start == 0 ? min(max(1, scope.query.integer("breakAt") ?? size), size) : size
        // In range: start is less than the size, and end is at most the size.
        let part = file.getSlice(at: start, length: end - start) ?? ByteBuffer()
        let body = ResponseBody(contentLength: size - start) { writer in
            try await writer.write(part)
            guard end == size else { throw APIError.malformed("The connection breaks here as requested.") }
            try await writer.finish(nil)
        }
        let reply = Reply(
            status: start > 0 ? 206 : 200,
            headers: [.contentType: "text/plain", .acceptRanges: "bytes", .eTag: tag], body: body)
        return start > 0 ? reply.with(.contentRange, "bytes \(start)-\(size - 1)/\(size)") : reply
    }
}
