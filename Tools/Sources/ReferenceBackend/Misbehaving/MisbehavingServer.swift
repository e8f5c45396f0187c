import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A server on a loopback port that breaks the rules of HTTP or TCP in one way.
public final class MisbehavingServer: Sendable {
    /// What it does.
    public let misbehaviour: Misbehaviour
    /// The port that it listens on.
    public let port: Int

    private let listener: any Channel
    private let connections: ConnectionCount

    private init(_ misbehaviour: Misbehaviour, listener: any Channel, port: Int, connections: ConnectionCount) {
        self.misbehaviour = misbehaviour
        self.listener = listener
        self.port = port
        self.connections = connections
    }

    /// Starts a server and returns as soon as it listens.
    public static func start(_ misbehaviour: Misbehaviour) async throws -> MisbehavingServer {
        let script = MisbehaviourScript(misbehaviour)
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
            misbehaviour, listener: listener, port: listener.localAddress?.port ?? 0, connections: connections)
    }

    /// Where requests go, without a slash at the end.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// How many connections have been accepted.
    public var connectionsAccepted: Int { connections.values.accepted }

    /// How many connections are open now.
    public var connectionsOpen: Int { connections.values.open }

    /// How many bytes have been handed to the system for sending.
    public var bytesSent: Int { connections.values.bytesSent }

    /// Returns as soon as `count` connections have been accepted; throws when cancelled.
    public func waitUntilAccepted(_ count: Int = 1) async throws {
        try await connections.accepted.wait(for: "/", count: count)
    }

    /// Returns as soon as `count` connections have been closed; throws when cancelled.
    public func waitUntilClosed(_ count: Int = 1) async throws {
        try await connections.closed.wait(for: "/", count: count)
    }

    /// Stops listening and closes every connection. May be called again.
    public func stop() async {
        // Both fail where there is nothing left to close.
        try? await listener.close()
        await connections.closeAll()
    }
}

/// Counts a server's connections.
private final class ConnectionCount: Sendable {
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
