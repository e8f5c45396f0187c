import NIOCore
import NIOHTTPTypes

/// Detects that a client has disconnected or closed its output, to end requests that hang.
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

    /// The signal that fires when the client of `channel` disconnects.
    static func signal(of channel: any Channel) async -> Signal {
        let handler = try? await channel.pipeline.handler(type: ClientPresence.self).get()
        if let handler { return handler.left }
        // A pipeline without its handlers has been torn down, so the client has disconnected.
        let disconnected = Signal()
        disconnected.fire()
        return disconnected
    }
}
