public import Martlet

/// A connectivity monitor that connects and disconnects the network when a test tells it to.
///
/// ```swift
/// let network = ManualConnectivityMonitor(isConnected: false)
/// config.connectivity = network
/// let articles = Task { try await client.send(Call<[Article]>.get("/articles")) }
/// await network.waitForSubscribers()       // the call waits
/// network.setConnected(true)
/// ```
public final class ManualConnectivityMonitor: ConnectivityMonitor {
    /// The connectivity, its subscribers, and the tests that wait for subscribers.
    private struct State {
        var isConnected: Bool
        var subscribers: [Int: AsyncStream<Bool>.Continuation] = [:]
        var lastID = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state: Locked<State>

    /// Creates a monitor.
    public init(isConnected: Bool = true) {
        state = Locked(State(isConnected: isConnected))
    }

    /// The current connectivity, followed by each change.
    public var updates: AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream<Bool>.makeStream()
        let (id, watchers) = state.withLock { state in
            state.lastID += 1
            state.subscribers[state.lastID] = continuation
            // Nothing waits for this stream yet, so no task is resumed under the lock.
            continuation.yield(state.isConnected)
            let count = state.subscribers.count
            let satisfied = state.watchers.filter { $0.count <= count }.map(\.continuation)
            state.watchers.removeAll { $0.count <= count }
            return (state.lastID, satisfied)
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.subscribers.removeValue(forKey: id) }
        }
        for watcher in watchers { watcher.resume() }
        return stream
    }

    /// Tells all subscribers whether the device has a network. As with the system's monitor, a value that equals the
    /// previous one is no change.
    public func setConnected(_ isConnected: Bool) {
        let subscribers = state.withLock { state -> [AsyncStream<Bool>.Continuation] in
            guard state.isConnected != isConnected else { return [] }
            state.isConnected = isConnected
            // Resume in a fixed order, so that a seeded test runs the same way each time.
            return state.subscribers.sorted { $0.key < $1.key }.map(\.value)
        }
        for subscriber in subscribers { subscriber.yield(isConnected) }
    }

    /// Waits until at least this many calls and managers have subscribed, so that a test does not continue too early.
    public func waitForSubscribers(_ count: Int = 1) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isSatisfied = state.withLock { state in
                if state.subscribers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isSatisfied { continuation.resume() }
        }
    }
}
