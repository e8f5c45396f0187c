import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The TCP connections of a backend: counted, and closable all at once.
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

    /// Closes every connection, those still to come included, and returns when they are closed.
    func closeAll() async {
        let channels = locked.withLockedValue { locked in
            locked.isClosed = true
            return Array(locked.channels.values)
        }
        for channel in channels { channel.closeAbruptly() }
        for channel in channels {
            // The future of a close cannot fail in a way that leaves the channel open.
            try? await channel.closeFuture.get()
        }
    }
}

/// Puts every connection of a server into a registry before the server sees it.
struct RegisteredConnections<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let registry: ConnectionRegistry
    /// Whether only peers on this machine are served.
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
