import HTTPTypes
import HummingbirdCore
import NIOCore

extension BackendCore {
    func addStreamRoutes(to table: inout RouteTable) {
        table.add("*", "/_control/bytes", kind: .transport, streamBytes)
        table.add("*", "/_control/drip", kind: .transport, drip)
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
}
