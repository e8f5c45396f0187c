import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection of a ``MisbehavingServer``, which runs its script.
final class MisbehavingConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: MisbehaviorScript
    private let onBytesSent: @Sendable (Int) -> Void
    private var hasBegun = false
    private var lastBytes: [UInt8] = []
    private var sentRepeating = 0
    private var nextPiece: Scheduled<Void>?

    init(script: MisbehaviorScript, onBytesSent: @escaping @Sendable (Int) -> Void) {
        self.script = script
        self.onBytesSent = onBytesSent
    }

    func channelActive(context: ChannelHandlerContext) {
        if !script.waitsForRequest { begin(context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if hasBegun { return }
        let bytes = lastBytes + unwrapInboundIn(data).readableBytesView
        if bytes.firstRange(of: Array("\r\n\r\n".utf8)) != nil {
            begin(context)
        } else {
            lastBytes = bytes.suffix(3)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        nextPiece?.cancel()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func begin(_ context: ChannelHandlerContext) {
        hasBegun = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        send(script.opening, context) {
            let (connection, context) = bound.value
            connection.end(context)
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        switch script.ending {
        case .close: context.close(promise: nil)
        case .reset: reset(context)
        case .silence: break
        case .repeating(let piece, let interval, let limit): repeatPiece(piece, every: interval, upTo: limit, context)
        }
    }

    /// Resets the connection, by closing it with a linger time of zero.
    private func reset(_ context: ChannelHandlerContext) {
        guard let options = context.channel as? any SocketOptionProvider else { return context.close(promise: nil) }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in bound.value.close(promise: nil) }
    }

    /// Sends the next piece once the previous one is written, so that a slow client causes no buffering here.
    private func repeatPiece(
        _ piece: ByteBuffer, every interval: Duration?, upTo limit: Int, _ context: ChannelHandlerContext
    ) {
        guard sentRepeating < limit else { return context.close(promise: nil) }
        sentRepeating += piece.readableBytes
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let proceed: @Sendable () -> Void = {
            let (connection, context) = bound.value
            connection.repeatPiece(piece, every: interval, upTo: limit, context)
        }
        send(piece, context) {
            guard let interval else { return proceed() }
            let (connection, context) = bound.value
            connection.nextPiece = context.eventLoop.scheduleTask(in: TimeAmount(interval), proceed)
        }
    }

    private func send(
        _ bytes: ByteBuffer, _ context: ChannelHandlerContext, then proceed: @escaping @Sendable () -> Void
    ) {
        if bytes.readableBytes == 0 { return proceed() }
        let onBytesSent = onBytesSent
        context.writeAndFlush(wrapOutboundOut(bytes)).whenSuccess {
            onBytesSent(bytes.readableBytes)
            proceed()
        }
    }
}
