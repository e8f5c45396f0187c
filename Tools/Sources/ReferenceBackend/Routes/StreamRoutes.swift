import HTTPTypes
import HummingbirdCore
import NIOCore

extension BackendCore {
    func addStreamRoutes(to table: inout RouteTable) {
        table.add("*", "/_control/bytes", kind: .transport, streamBytes)
        table.add("*", "/_control/drip", kind: .transport, drip)
        table.add("*", "/_control/quiet", kind: .transport, fallQuiet)
        table.add("*", "/_control/zstd", kind: .transport, sendZstandard)
    }

    /// Sends `count` bytes in pieces of `chunk`; byte n is n modulo 251. `length=false` omits `Content-Length`.
    private func streamBytes(_ scope: RequestScope) -> Reply {
        let count = max(0, scope.query.integer("count") ?? 0)
        let chunk = min(max(1, scope.query.integer("chunk") ?? 64 << 10), 16 << 20)
        let announced = scope.query["length"] == "false" ? nil : count
        // Each piece is a slice of one buffer that contains the pattern from every offset.
        let pattern = ByteBuffer(bytes: (0..<(chunk + 251)).map { UInt8($0 % 251) })
        let body = ResponseBody(contentLength: announced) { writer in
            var sent = 0
            while sent < count {
                let length = min(chunk, count - sent)
                // In range: sent % 251 is at most 250 and length at most chunk.
                try await writer.write(pattern.getSlice(at: sent % 251, length: length) ?? ByteBuffer())
                sent += length
            }
            try await writer.finish(nil)
        }
        return Reply(status: 200, headers: [.contentType: "application/octet-stream"], body: body)
    }

    /// Sends `count` pieces of `size` bytes, `intervalMs` apart.
    private func drip(_ scope: RequestScope) -> Reply {
        let count = min(max(0, scope.query.integer("count") ?? 10), 1_000_000)
        let size = min(max(1, scope.query.integer("size") ?? 1), 1_000_000)
        let interval = Duration.milliseconds(scope.query.integer("intervalMs") ?? 50)
        let body = ResponseBody(contentLength: count * size) { writer in
            for index in 0..<count {
                if index > 0 { try await Task.sleep(for: interval) }
                try await writer.write(ByteBuffer(repeating: UInt8(ascii: "."), count: size))
            }
            try await writer.finish(nil)
        }
        return Reply(status: 200, headers: [.contentType: "application/octet-stream"], body: body)
    }

    /// Sends the head and `count` bytes, and then nothing until the client leaves, the hangs are released or the
    /// backend stops, which ends the body. `contentType` is that of the response.
    private func fallQuiet(_ scope: RequestScope) -> Reply {
        let count = min(max(0, scope.query.integer("count") ?? 0), 1_000_000)
        let body = ResponseBody { writer in
            if count > 0 { try await writer.write(ByteBuffer(repeating: UInt8(ascii: "."), count: count)) }
            let clientLeft = await ClientPresence.signal(of: scope.channel)
            await controls.hangs.wait(until: clientLeft)
            try await writer.finish(nil)
        }
        return Reply(
            status: 200, headers: [.contentType: scope.query["contentType"] ?? "text/event-stream"], body: body)
    }

    /// Sends `body`, at most 255 bytes, in a frame of Zstandard with one block that is not compressed (RFC 8878,
    /// section 3.1.1).
    private func sendZstandard(_ scope: RequestScope) throws -> Reply {
        let content = Array((scope.query["body"] ?? "").utf8)
        guard let size = UInt8(exactly: content.count) else { throw APIError.malformed("At most 255 bytes.") }
        // The magic number; one segment whose size has one byte; the last block, raw, with its size from bit 3 on.
        let block = UInt32(size) << 3 | 1
        let head: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, size, UInt8(block & 0xFF), UInt8(block >> 8), 0]
        return Reply.bytes(ByteBuffer(bytes: head + content), contentType: "text/plain").with(.contentEncoding, "zstd")
    }
}
