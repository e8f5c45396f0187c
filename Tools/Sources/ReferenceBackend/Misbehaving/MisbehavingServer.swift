import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A server on a loopback port that violates HTTP or TCP in one way.
public final class MisbehavingServer: Sendable {
    /// The kind of misbehavior.
    public let misbehavior: Misbehavior
    /// The port of the server.
    public let port: Int

    private let listener: any Channel
    private let connections: ConnectionCount

    private init(_ misbehavior: Misbehavior, listener: any Channel, port: Int, connections: ConnectionCount) {
        self.misbehavior = misbehavior
        self.listener = listener
        self.port = port
        self.connections = connections
    }

    /// Starts a server. Returns once it listens.
    public static func start(_ misbehavior: Misbehavior) async throws -> MisbehavingServer {
        let script = MisbehaviorScript(misbehavior)
        let connections = ConnectionCount()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                connections.opened(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let handler = MisbehavingConnection(script: script) { connections.sent($0) }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return MisbehavingServer(
            misbehavior, listener: listener, port: listener.localAddress?.port ?? 0, connections: connections)
    }

    /// The base URL, without a trailing slash.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// The number of accepted connections.
    public var connectionsAccepted: Int { connections.values.accepted }

    /// The number of open connections.
    public var connectionsOpen: Int { connections.values.open }

    /// The number of bytes passed to the system for sending.
    public var bytesSent: Int { connections.values.bytesSent }

    /// Waits until `count` connections have been accepted. Throws `CancellationError` if cancelled.
    public func waitUntilAccepted(_ count: Int = 1) async throws {
        try await connections.accepted.wait(for: "/", count: count)
    }

    /// Waits until `count` connections have been closed. Throws `CancellationError` if cancelled.
    public func waitUntilClosed(_ count: Int = 1) async throws {
        try await connections.closed.wait(for: "/", count: count)
    }

    /// Stops listening and closes all connections. Repeated calls have no effect.
    public func stop() async {
        // Closing fails only if the channel is closed already.
        try? await listener.close()
        await connections.closeAll()
    }
}

/// The connections and counters of a server.
private final class ConnectionCount: Sendable {
    /// The open connections and the counts.
    struct Values {
        var accepted = 0
        var bytesSent = 0
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false

        var open: Int { channels.count }
    }

    let accepted = RequestLog()
    let closed = RequestLog()
    private let locked = NIOLockedValueBox(Values())

    var values: Values { locked.withLockedValue { $0 } }

    func opened(_ channel: any Channel) {
        let isClosed = locked.withLockedValue { values -> Bool in
            values.accepted += 1
            values.channels[ObjectIdentifier(channel)] = channel
            return values.isClosed
        }
        accepted.record(method: "", path: "/")
        channel.closeFuture.whenComplete { [self] _ in
            locked.withLockedValue { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
            closed.record(method: "", path: "/")
        }
        if isClosed { channel.close(promise: nil) }
    }

    func sent(_ count: Int) {
        locked.withLockedValue { $0.bytesSent += count }
    }

    func closeAll() async {
        let channels = locked.withLockedValue { values in
            values.isClosed = true
            return Array(values.channels.values)
        }
        for channel in channels { try? await channel.close() }
    }
}
