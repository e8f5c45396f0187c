import NIOCore
import NIOPosix
import NIOSSL

/// An HTTPS server on a free loopback port, which answers each request with its own bytes and closes the connection.
final class SecureServer: Sendable {
    let port: Int
    /// The text that has arrived inside TLS, over all connections.
    let received = Locker("")
    private let listener: any Channel
    private let open: Locker<[ObjectIdentifier: any Channel]>
    private let accepted: Locker<[EventLoopFuture<Void>]>

    private init(_ identity: TestIdentity, _ adjust: (inout TLSConfiguration) -> Void) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try identity.nioCertificates.map { .certificate($0) },
            privateKey: .privateKey(try identity.nioKey))
        configuration.shutdownTimeout = .milliseconds(50)
        adjust(&configuration)
        let context = try NIOSSLContext(configuration: configuration)
        let open = Locker<[ObjectIdentifier: any Channel]>([:])
        let accepted = Locker<[EventLoopFuture<Void>]>([])
        let received = received
        self.open = open
        self.accepted = accepted
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    open.with { $0[ObjectIdentifier(channel)] = channel }
                    accepted.with { $0.append(channel.closeFuture) }
                    channel.closeFuture.whenComplete { _ in open.with { $0[ObjectIdentifier(channel)] = nil } }
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Answerer(received))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
    }

    /// Runs a server until the body returns and all its connections are closed.
    static func run(
        _ identity: TestIdentity, adjust: (inout TLSConfiguration) -> Void = { _ in },
        _ body: (SecureServer) async throws -> Void
    ) async throws {
        let server = try await SecureServer(identity, adjust)
        do { try await body(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Waits until the client or the server has closed each connection.
    func allClosed() async {
        for closed in accepted.with({ $0 }) { try? await closed.get() }
    }

    private func stop() async {
        try? await listener.close()
        for channel in open.with({ Array($0.values) }) { channel.close(promise: nil) }
        await allClosed()
    }
}

private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let received: Locker<String>
    private var request = ""

    init(_ received: Locker<String>) { self.received = received }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        received.with { $0 += text }
        request += text
        guard request.hasSuffix("\r\n\r\n") else { return }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(request.utf8.count)\r\nConnection: close\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + request)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
