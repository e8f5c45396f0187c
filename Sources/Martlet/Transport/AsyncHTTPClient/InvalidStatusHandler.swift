#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import NIOCore
    internal import NIOHTTP1

    /// Fails a request whose response has a status below 100. async-http-client skips every head below 200 as an
    /// interim response, and traps when this one ends.
    final class InvalidStatusHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        private var hasFailed = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
                hasFailed = true
                context.fireErrorCaught(TransportError.invalidResponse("its status is \(head.status.code)"))
                context.close(promise: nil)
            }
            if !hasFailed { context.fireChannelRead(data) }
        }
    }

    extension HTTPClient.Configuration {
        /// Adds an ``InvalidStatusHandler`` to each HTTP/1 connection.
        mutating func refuseInvalidStatuses() {
            http1_1ConnectionDebugInitializer = { channel in
                channel.eventLoop.submit {
                    let pipeline = channel.pipeline.syncOperations
                    let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                    try pipeline.addHandler(InvalidStatusHandler(), position: .after(decoder))
                }
            }
        }
    }
#endif
