import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOPosix

/// Runs a server for HTTP/1.1 or for HTTP/2 over TLS, with the type of its connections erased.
struct ServerRunner: Sendable {
    let run: @Sendable () async throws -> Void
    let shutDown: @Sendable () async throws -> Void

    /// - Parameter onBound: Called with the port once it is bound.
    init(
        _ pipeline: RequestPipeline, identity: ServerIdentity?, registry: ConnectionRegistry,
        onBound: @escaping @Sendable (Int) -> Void
    ) throws {
        let responder: HTTPChannelHandler.Responder = { request, writer, channel in
            try await pipeline.respond(request, writer, channel)
        }
        let http = HTTP1Channel.Configuration(additionalChannelHandlers: [ClientPresence()])
        let child: any ServerChildChannel
        if let identity {
            child = try HTTP2UpgradeChannel(
                tlsConfiguration: try identity.tlsConfiguration(), configuration: .init(streamConfiguration: http),
                responder: responder)
        } else {
            child = HTTP1Channel(responder: responder, configuration: http)
        }
        self.init(child: child, pipeline.core.configuration, registry: registry, onBound: onBound)
    }

    private init(
        child: some ServerChildChannel, _ configuration: BackendConfiguration, registry: ConnectionRegistry,
        onBound: @escaping @Sendable (Int) -> Void
    ) {
        let registered = RegisteredConnections(
            base: child, registry: registry, refusesRemotePeers: configuration.hostileControls)
        let server = Server(
            childChannelSetup: registered,
            configuration: ServerConfiguration(
                address: .hostname(configuration.host, port: configuration.port), backlog: 1024),
            onServerRunning: { channel in onBound(channel.localAddress?.port ?? configuration.port) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: configuration.logger)
        run = { try await server.run() }
        shutDown = { try await server.shutdownGracefully() }
    }
}
