internal import NIOCore
internal import NIOHTTP1

/// Receives and sends large bodies as fast as possible, without looking at them.
///
/// - `POST /upload` reads the body and returns its size. `POST /upload/sluggish` reads nothing for a second and then
///   slowly. `POST /upload/guarded` responds with 401 at the end of the body if the token is `stale`.
/// - `GET /download/<bytes>` sends that many bytes with a `Content-Length`.
///
/// All other requests are passed on.
final class TransferHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The time for which a sluggish upload is not read at all, and the pause before each later read.
    private static let stall = TimeAmount.seconds(1)
    private static let pause = TimeAmount.milliseconds(5)
    private static let piece = ByteBuffer(repeating: UInt8(ascii: "m"), count: 256 * 1024)

    private enum Upload {
        case drained, sluggish, refused
    }

    private enum Transfer {
        case none
        case upload(bytes: Int, kind: Upload)
        case download(bytes: Int)
        /// A download in progress, with the number of bytes left to write.
        case sending(rest: Int)
    }

    private var transfer = Transfer.none

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch (transfer, part) {
        case (.none, .head(let head)):
            begin(head, context)
            if case .none = transfer { context.fireChannelRead(data) }
        case (.upload(let bytes, let kind), .body(let piece)):
            transfer = .upload(bytes: bytes + piece.readableBytes, kind: kind)
        case (.upload(let bytes, let kind), .end):
            transfer = .none
            // Resume reading for the next request.
            if kind == .sluggish { context.channel.setOption(.autoRead, value: true).whenComplete { _ in } }
            let content = ByteBuffer(string: "{\"bytes\":\(bytes)}")
            write(kind == .refused ? .unauthorized : .ok, content.readableBytes, "application/json", context)
            context.write(wrapOutboundOut(.body(.byteBuffer(content))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case (.download(let bytes), .end):
            transfer = .sending(rest: bytes)
            write(.ok, bytes, "application/octet-stream", context)
            send(context)
        case (.download, _), (.sending, _), (.upload, .head):
            break
        case (.none, _):
            context.fireChannelRead(data)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        send(context)
        context.fireChannelWritabilityChanged()
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch (head.method, head.uri) {
        case (.POST, "/upload"), (.POST, "/upload/sluggish"), (.POST, "/upload/guarded"):
            if head.headers.first(name: "Expect")?.lowercased() == "100-continue" {
                let goOn = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(goOn)), promise: nil)
            }
            let kind: Upload =
                switch head.uri {
                case "/upload/sluggish": .sluggish
                case "/upload/guarded" where head.headers.first(name: "Authorization") == "Bearer stale": .refused
                default: .drained
                }
            transfer = .upload(bytes: 0, kind: kind)
            guard kind == .sluggish else { return }
            context.channel.setOption(.autoRead, value: false).whenComplete { _ in }
            readSlowly(after: Self.stall, context)
        case (.GET, let path) where path.hasPrefix("/download/"):
            transfer = .download(bytes: Int(path.dropFirst("/download/".count)) ?? 0)
        default:
            break
        }
    }

    private func readSlowly(after delay: TimeAmount, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: delay) {
            let (handler, context) = bound.value
            guard case .upload(_, .sluggish) = handler.transfer, context.channel.isActive else { return }
            context.read()
            handler.readSlowly(after: Self.pause, context)
        }
    }

    private func write(
        _ status: HTTPResponseStatus, _ length: Int, _ type: String, _ context: ChannelHandlerContext
    ) {
        let headers: HTTPHeaders = ["Content-Type": type, "Content-Length": "\(length)"]
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// Writes as long as the channel is writable. `channelWritabilityChanged` continues later.
    private func send(_ context: ChannelHandlerContext) {
        while case .sending(let rest) = transfer, context.channel.isWritable {
            guard rest > 0 else {
                transfer = .none
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                return
            }
            let size = min(rest, Self.piece.readableBytes)
            guard let piece = Self.piece.getSlice(at: 0, length: size) else { return }
            // Update the state first: the write may make the channel writable again and reenter this function.
            transfer = .sending(rest: rest - size)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece))), promise: nil)
        }
    }
}
