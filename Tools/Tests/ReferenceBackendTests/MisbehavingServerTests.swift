import AsyncHTTPClient
import NIOCore
import NIOPosix
import ReferenceBackend
import Testing

@Suite("Misbehaving server", .timeLimit(.minutes(10)))
struct MisbehavingServerTests {
    static let all: [Misbehavior] = [
        .acceptsAndNeverResponds, .closesImmediately, .resetsConnection, .closesMidHead, .closesMidBody(),
        .sendsTooMuch(),
        .endlessHeaders(), .endlessBody, .slowDrip(interval: .milliseconds(1)), .garbage, .badChunkedEncoding,
        .invalidStatusLine,
    ]

    @Test("Every misbehavior starts, survives a client that disconnects, and leaves nothing open", arguments: all)
    func startAndStop(misbehavior: Misbehavior) async throws {
        let server = try await MisbehavingServer.start(misbehavior)
        let request = Task {
            let response = try await TestClient.shared.execute(
                HTTPClientRequest(url: "\(server.baseURL)/"), timeout: .seconds(30))
            return try await response.body.collect(upTo: 1 << 20).readableBytes
        }
        try await server.waitUntilAccepted()
        switch misbehavior {
        case .acceptsAndNeverResponds, .slowDrip:
            request.cancel()
            await #expect(throws: (any Error).self) { try await request.value }
        case .sendsTooMuch:
            // A client may treat the announced part as the whole response.
            _ = try? await request.value
        default:
            await #expect(throws: (any Error).self) { try await request.value }
        }
        try await server.waitUntilClosed()
        #expect(server.connectionsAccepted >= 1)
        await server.stop()
        #expect(server.connectionsOpen == 0)
        await server.stop()
    }

    @Test("Stopping closes open connections")
    func stopWithOpenConnection() async throws {
        let server = try await MisbehavingServer.start(.acceptsAndNeverResponds)
        let request = Task {
            try await TestClient.shared.execute(HTTPClientRequest(url: server.baseURL), timeout: .seconds(30))
        }
        try await server.waitUntilAccepted()
        await server.stop()
        await #expect(throws: (any Error).self) { try await request.value }
        // The client may have reconnected before the listener closed; that connection closes a moment later.
        try await server.waitUntilClosed(server.connectionsAccepted)
        #expect(server.connectionsOpen == 0)
    }

    @Test("A misbehavior sends the documented bytes")
    func bytesOnTheWire() async throws {
        let expected: [(Misbehavior, String)] = [
            (.closesMidHead, "HTTP/1.1 200 OK\r\nContent-Type: text/pl"),
            (.closesMidBody(declared: 10, sent: 3), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nxxx"),
            (.sendsTooMuch(declared: 1, sent: 3), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxxx"),
            (.invalidStatusLine, "HTTP/1.1 okay\r\nContent-Length: 0\r\n\r\n"),
        ]
        for (misbehavior, text) in expected {
            let server = try await MisbehavingServer.start(misbehavior)
            let received = try await everything(from: server.port)
            #expect(received == text)
            await server.stop()
        }
    }

    @Test("A connection that is closed immediately sends nothing")
    func closedImmediately() async throws {
        let server = try await MisbehavingServer.start(.closesImmediately)
        #expect(try await everything(from: server.port, request: "") == "")
        await server.stop()
    }

    @Test("Endless headers end at their limit")
    func limitedHeaders() async throws {
        let server = try await MisbehavingServer.start(.endlessHeaders(totalBytes: 200_000))
        let received = try await everything(from: server.port)
        #expect((200_000..<300_000).contains(received.utf8.count))
        await server.stop()
    }

    private func everything(
        from port: Int, request: String = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    ) async throws -> String {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            if !request.isEmpty { try await outbound.write(ByteBuffer(string: request)) }
            var bytes = ByteBuffer()
            for try await piece in inbound { bytes.writeImmutableBuffer(piece) }
            return String(buffer: bytes)
        }
    }
}
