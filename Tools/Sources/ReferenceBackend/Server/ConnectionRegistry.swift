import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Tracks the TCP connections of a backend, to count them and to close all of them at once.
final class ConnectionRegistry: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    private let locked = NIOLockedValueBox(State())
    private let state: BackendState

    init(state: BackendState) {
        self.state = state
    }

    func add(_ channel: any Channel) {
        let isClosed = locked.withLockedValue { locked -> Bool in
            locked.channels[ObjectIdentifier(channel)] = channel
            return locked.isClosed
        }
        state.count {
            $0.connectionsAccepted += 1
            $0.connectionsOpen += 1
        }
        channel.closeFuture.whenComplete { [self] _ in
            locked.withLockedValue { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
            state.count { $0.connectionsOpen -= 1 }
        }
        if isClosed { channel.closeAbruptly() }
    }

    /// Closes all connections, including later ones. Returns once the current ones are closed.
    func closeAll() async {
        let channels = locked.withLockedValue { locked in
            locked.isClosed = true
            return Array(locked.channels.values)
        }
        for channel in channels { channel.closeAbruptly() }
        for channel in channels {
            // A failed close still means that the channel is closed.
            try? await channel.closeFuture.get()
        }
    }
}

/// Adds every connection of a server to a registry before the server handles it.
struct RegisteredConnections<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let registry: ConnectionRegistry
    /// Whether to accept only peers on this machine.
    let refusesRemotePeers: Bool

    struct RemotePeer: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        if refusesRemotePeers, channel.remoteAddress?.isLoopback != true {
            return channel.close().flatMapThrowing { throw RemotePeer() }
        }
        registry.add(channel)
        return base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

extension SocketAddress {
    var isLoopback: Bool {
        guard let address = ipAddress else { return false }
        return address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
    }
}
