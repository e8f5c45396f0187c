import NIOCore
import NIOPosix

/// A server on a free loopback port. A test scripts each of its connections byte by byte.
///
/// ```swift
/// let server = try await WireServer.start { connection in
///     let request = try await connection.readRequest()
///     try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
/// }
/// ```
/// The connection is closed when the script returns. Nothing is read unless the script reads it.
final class WireServer: Sendable {
    typealias Script = @Sendable (WireConnection) async throws -> Void

    let port: Int
    private let listener: any Channel
    private let connections: Connections

    /// The accepted connections.
    private final class Connections: Sendable {
        private struct State {
            var opened = 0
            var live: [ObjectIdentifier: any Channel] = [:]
            var waiters: [Signal] = []
        }

        private let state = Locker(State())
        var opened: Int { state.with { $0.opened } }
        var live: [any Channel] { state.with { Array($0.live.values) } }

        func open(_ channel: any Channel) {
            state.with { state in
                state.opened += 1
                state.live[ObjectIdentifier(channel)] = channel
            }
            channel.closeFuture.whenComplete { _ in
                let waiters = self.state.with { state -> [Signal] in
                    state.live[ObjectIdentifier(channel)] = nil
                    guard state.live.isEmpty else { return [] }
                    defer { state.waiters = [] }
                    return state.waiters
                }
                for waiter in waiters { waiter.fire() }
            }
        }

        func allClosed() async {
            let signal = Signal()
            let isClosed = state.with { state in
                if !state.live.isEmpty { state.waiters.append(signal) }
                return state.live.isEmpty
            }
            if !isClosed { await signal.wait() }
        }
    }

    private init(_ listener: any Channel, port: Int, connections: Connections) {
        self.listener = listener
        self.port = port
        self.connections = connections
    }

    static func start(_ script: @escaping Script) async throws -> WireServer {
        let connections = Connections()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 512)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    connections.open(channel)
                    let inbox = WireConnection.Inbox { inbox in
                        let connection = WireConnection(channel, inbox)
                        Task {
                            try? await script(connection)
                            channel.close(promise: nil)
                        }
                    }
                    try channel.pipeline.syncOperations.addHandler(inbox)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw WireError("no port") }
        return WireServer(listener, port: port, connections: connections)
    }

    /// `127.0.0.1:port`.
    var authority: String { "127.0.0.1:\(port)" }
    /// The number of accepted connections.
    var opened: Int { connections.opened }
    /// Waits until every accepted connection is closed.
    func allClosed() async { await connections.allClosed() }

    /// Closes the listener and all connections.
    func stop() async {
        try? await listener.close()
        for channel in connections.live { channel.close(promise: nil) }
        await connections.allClosed()
    }

    deinit {
        listener.close(promise: nil)
        for channel in connections.live { channel.close(promise: nil) }
    }
}

struct WireError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
