import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

extension BackendCore {
    func addFileRoutes(to table: inout RouteTable) {
        table.add("GET", "/files/{size}", sendFile)
        table.add("GET", "/events", sendEvents)
    }

    /// Sends a file of `size` bytes to a signed-in user, whole or from an offset (RFC 9110 section 14). Byte n is n
    /// modulo 251. With `breakAt`, a transfer from the start breaks off at that offset.
    private func sendFile(_ scope: RequestScope) async throws -> Reply {
        _ = try await authenticate(scope)
        guard let size = Int(try scope.parameter("size")), (0...(4 << 30)).contains(size) else {
            throw APIError.malformed("The size must be a number of bytes, at most 4 GiB.")
        }
        let tag = "\"\(size)\""
        var start = 0
        if let asked = scope.headers[.range].flatMap(Self.firstByte) {
            let isSame = scope.headers[.ifRange].map { $0 == tag } ?? true
            if isSame, asked >= size { return Reply.empty(416).with(.contentRange, "bytes */\(size)") }
            if isSame { start = asked }
        }
        let body = Self.pattern(from: start, to: size, breakAt: scope.query.integer("breakAt"))
        var reply = Reply(
            status: start > 0 ? 206 : 200,
            headers: [.contentType: "application/octet-stream", .acceptRanges: "bytes", .eTag: tag], body: body)
        if start > 0 { reply = reply.with(.contentRange, "bytes \(start)-\(size - 1)/\(size)") }
        if scope.headers[.wantReprDigest] != nil {
            reply = reply.with(.reprDigest, "sha-256=:\(Self.digest(ofFirst: size)):")
        }
        return reply
    }

    /// Parses `bytes=500-`, the only supported form of a range.
    static func firstByte(_ range: String) -> Int? {
        guard range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }

    private static func pattern(from start: Int, to end: Int, breakAt: Int?) -> ResponseBody {
        let piece = 64 << 10
        let pattern = ByteBuffer(bytes: (0..<(piece + 251)).map { UInt8($0 % 251) })
        return ResponseBody(contentLength: end - start) { writer in
            var position = start
            let limit = start == 0 ? min(breakAt ?? end, end) : end
            while position < limit {
                let length = min(piece, limit - position)
                // In range: position % 251 is at most 250 and length at most a piece.
                try await writer.write(pattern.getSlice(at: position % 251, length: length) ?? ByteBuffer())
                position += length
            }
            guard position == end else { throw APIError.malformed("The connection breaks here as requested.") }
            try await writer.finish(nil)
        }
    }

    private static func digest(ofFirst size: Int) -> String {
        var hash = SHA256()
        let block = (0..<(251 * 1024)).map { UInt8($0 % 251) }
        var rest = size
        while rest > 0 {
            hash.update(data: block.prefix(rest))
            rest -= min(rest, block.count)
        }
        return Data(hash.finalize()).base64EncodedString()
    }

    /// Sends a few events per request, numbered up to `count`. Continues after `Last-Event-ID`, and returns 204 once
    /// all events have been sent.
    private func sendEvents(_ scope: RequestScope) async throws -> Reply {
        _ = try await authenticate(scope)
        let first = (scope.headers[.lastEventID].flatMap { Int($0) } ?? 0) + 1
        let count = scope.query.integer("count") ?? 10
        let last = min(count, first + (scope.query.integer("each") ?? 3) - 1)
        guard first <= last else { return .empty() }
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "retry: 100\n\n"))
            for number in first...last {
                try await writer.write(ByteBuffer(string: "id: \(number)\nevent: count\ndata: \(number)\n\n"))
            }
            try await writer.finish(nil)
        }
        return Reply(status: 200, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }
}
