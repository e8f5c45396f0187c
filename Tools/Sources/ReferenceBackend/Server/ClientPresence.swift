import NIOCore
import NIOHTTPTypes

/// Notices that a client has gone or will send no more, for requests that would otherwise wait for nobody.
final class ClientPresence: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPRequestPart

    let left = Signal()

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.inputClosed) = event as? ChannelEvent { left.fire() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        left.fire()
        context.fireChannelInactive()
    }

    /// The signal of the client at the other end of `channel`.
    static func signal(of channel: any Channel) async -> Signal {
        let handler = try? await channel.pipeline.handler(type: ClientPresence.self).get()
        if let handler { return handler.left }
        // A pipeline that has been taken down has lost its handlers, and its client.
        let gone = Signal()
        gone.fire()
        return gone
    }
}
