import NIOCore
import NIOPosix

/// An HTTP or SOCKS5 proxy on a free loopback port, which forwards to 127.0.0.1 whatever the name.
final class LoopbackProxy: Sendable {
    enum Kind: Sendable {
        /// Demands this value of `Proxy-Authorization`, if there is one.
        case http(authorization: String? = nil)
        case socks5
        /// Answers each request to connect with these bytes.
        case refusingHTTP([UInt8])
        case refusingSOCKS5([UInt8])
    }

    let port: Int
    /// The text that clients have sent, inside and outside of the tunnels.
    let seen = Locker("")
    private let listener: any Channel
    private let channels: Locker<[any Channel]>

    private init(_ kind: Kind) async throws {
        let channels = Locker<[any Channel]>([])
        let seen = seen
        self.channels = channels
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    channels.with { $0.append(channel) }
                    try channel.pipeline.syncOperations.addHandler(Tunnel(kind, seen, channels))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
    }

    /// Runs a proxy until the body returns.
    static func run(_ kind: Kind, _ body: (LoopbackProxy) async throws -> Void) async throws {
        let proxy = try await LoopbackProxy(kind)
        do { try await body(proxy) } catch {
            await proxy.stop()
            throw error
        }
        await proxy.stop()
    }

    private func stop() async {
        try? await listener.close()
        for channel in channels.with({ $0 }) {
            channel.close(promise: nil)
            try? await channel.closeFuture.get()
        }
    }
}

/// The client's side of one tunnel.
private final class Tunnel: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let kind: LoopbackProxy.Kind
    private let seen: Locker<String>
    private let channels: Locker<[any Channel]>
    private var buffer = ByteBuffer()
    private var isGreeted = false
    private var isConnecting = false
    private var upstream: (any Channel)?

    init(_ kind: LoopbackProxy.Kind, _ seen: Locker<String>, _ channels: Locker<[any Channel]>) {
        self.kind = kind
        self.seen = seen
        self.channels = channels
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        let text = String(decoding: bytes.readableBytesView, as: UTF8.self)
        seen.with { $0 += text }
        if let upstream { return upstream.writeAndFlush(bytes, promise: nil) }
        buffer.writeBuffer(&bytes)
        guard !isConnecting else { return }
        switch kind {
        case .http(let authorization): connect(context, authorization)
        case .socks5: negotiate(context, refusal: nil)
        case .refusingSOCKS5(let refusal): negotiate(context, refusal: refusal)
        case .refusingHTTP(let refusal):
            if String(buffer: buffer).hasSuffix("\r\n\r\n") { answer(context, refusal) }
        }
    }

    private func connect(_ context: ChannelHandlerContext, _ authorization: String?) {
        let head = String(buffer: buffer)
        guard head.hasSuffix("\r\n\r\n") else { return }
        buffer.clear()
        let lines = head.split(separator: "\r\n")
        let isAuthorized =
            authorization.map { wanted in
                lines.contains { $0.lowercased() == "proxy-authorization: " + wanted.lowercased() }
            } ?? true
        guard isAuthorized else {
            return answer(
                context, Array("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        let target = lines.first?.split(separator: " ").dropFirst().first ?? ""
        guard head.hasPrefix("CONNECT "), let port = target.split(separator: ":").last.flatMap({ Int($0) }) else {
            return answer(context, Array("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        open(context, port, reply: Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    }

    private func negotiate(_ context: ChannelHandlerContext, refusal: [UInt8]?) {
        let bytes = Array(buffer.readableBytesView)
        if !isGreeted {
            guard bytes.count >= 2, bytes.count >= 2 + Int(bytes[1]) else { return }
            buffer.clear()
            isGreeted = true
            return answer(context, [5, 0])
        }
        guard bytes.count >= 5 else { return }
        let addressCount = bytes[3] == 1 ? 4 : bytes[3] == 4 ? 16 : 1 + Int(bytes[4])
        guard bytes.count == 6 + addressCount else { return }
        buffer.clear()
        if let refusal { return answer(context, refusal) }
        let port = Int(bytes[bytes.count - 2]) << 8 | Int(bytes[bytes.count - 1])
        open(context, port, reply: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    private func answer(_ context: ChannelHandlerContext, _ bytes: [UInt8]) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func open(_ context: ChannelHandlerContext, _ port: Int, reply: [UInt8]) {
        isConnecting = true
        let client = context.channel
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        let channels = channels
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    channels.with { $0.append(channel) }
                    try channel.pipeline.syncOperations.addHandler(Return(client))
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .whenComplete { result in
                guard case .success(let upstream) = result else { return client.close(promise: nil) }
                this.value.upstream = upstream
                client.writeAndFlush(ByteBuffer(bytes: reply), promise: nil)
                if this.value.buffer.readableBytes > 0 { upstream.writeAndFlush(this.value.buffer, promise: nil) }
            }
    }

    func channelInactive(context: ChannelHandlerContext) {
        upstream?.close(promise: nil)
    }
}

/// Returns what the server sends.
private final class Return: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel

    init(_ client: any Channel) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        client.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        client.close(promise: nil)
    }
}
