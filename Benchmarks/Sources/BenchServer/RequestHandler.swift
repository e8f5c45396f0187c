internal import NIOCore
internal import NIOHTTP1

/// Responds to the small requests of a connection. Large bodies are handled by ``TransferHandler``.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let refreshTime = TimeAmount.milliseconds(50)

    private let backend: NIOLoopBoundBox<Backend>
    private var head: HTTPRequestHead?
    private var body = ""

    init(_ backend: NIOLoopBoundBox<Backend>) {
        self.backend = backend
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = ""
        case .body(let part):
            body += String(buffer: part)
        case .end:
            if let head { respond(head, context) }
        }
    }

    private func respond(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch (head.method, head.uri) {
        case (.GET, let path) where path.hasPrefix("/items/"):
            let page = backend.value.page(
                Int(path.dropFirst("/items/".count)) ?? 0, authorization: head.headers.first(name: "Authorization"))
            write(page, else: .unauthorized, context)
        case (.GET, let path) where path.hasPrefix("/pages/"):
            let page = backend.value.page(
                items: Int(path.dropFirst("/pages/".count)) ?? 0,
                authorization: head.headers.first(name: "Authorization"))
            write(page, else: .unauthorized, context)
        case (.POST, "/auth/refresh"):
            let body = body
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: Self.refreshTime) {
                let (handler, context) = bound.value
                handler.write(handler.backend.value.refresh(body: body), else: .unauthorized, context)
            }
        case (.GET, "/control/tokens"):
            write(backend.value.pair, context)
        case (.POST, "/control/expire"):
            backend.value.expire()
            write("{}", context)
        case (.GET, "/control/counters"):
            let counters = backend.value.counters
            write(
                """
                {"accepted":\(counters.accepted),"refused":\(counters.refused),"refreshes":\(counters.refreshes)}
                """, context)
        default:
            write(nil, else: .notFound, context)
        }
    }

    private func write(
        _ text: String?, else failure: HTTPResponseStatus = .internalServerError, _ context: ChannelHandlerContext
    ) {
        let content = ByteBuffer(string: text ?? "{}")
        let headers: HTTPHeaders = [
            "Content-Type": "application/json", "Content-Length": "\(content.readableBytes)",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: text == nil ? failure : .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(content))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
