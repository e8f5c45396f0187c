/// Reports the system's view of the network: `NWPathMonitor` on Apple platforms, the kernel's default routes on Linux.
///
/// The system is watched from the first subscription on, once for all clients. If it cannot be watched, the device
/// counts as connected.
public final class SystemConnectivityMonitor: ConnectivityMonitor {
    /// The monitor of the process.
    public static let shared = SystemConnectivityMonitor { NetworkWatch($0) }

    /// The known state of the network, and the subscribers.
    private struct State {
        var isConnected: Bool?
        var subscribers = Broadcast<Bool>()
        var watch: (any Sendable)?
        var isStarted = false
    }

    private let state = Locked(State())
    private let startWatch: @Sendable (@escaping @Sendable (Bool) -> Void) -> any Sendable

    /// - Parameter startWatch: Starts watching the system, and returns the watch. Until the watch is released, it
    ///   reports whether there is a network: first the current state, and then the state after each event.
    init(_ startWatch: @escaping @Sendable (@escaping @Sendable (Bool) -> Void) -> any Sendable) {
        self.startWatch = startWatch
    }

    /// The current state, `true` if the device has a network, and then each new state. A subscriber that reads too
    /// slowly gets only the newest 16.
    public var updates: AsyncStream<Bool> {
        let (stream, isFirst) = state.withLock { state in
            defer { state.isStarted = true }
            let first = state.isConnected.map { [$0] } ?? []
            return (state.subscribers.subscribe(first: first, keeping: 16), !state.isStarted)
        }
        if isFirst {
            let watch = startWatch { [weak self] isConnected in self?.report(isConnected) }
            state.withLock { $0.watch = watch }
        }
        return stream
    }

    private func report(_ isConnected: Bool) {
        let wakeups = state.withLock { state -> Wakeups? in
            guard state.isConnected != isConnected else { return nil }
            state.isConnected = isConnected
            return state.subscribers.send(isConnected)
        }
        wakeups?.wake()
    }
}
