/// Waits for the network after a refresh that may have failed because there was none.
final class NetworkReturn: Sendable {
    private let connectivity: (any ConnectivityMonitor)?
    private let watch = Locked<Task<Void, Never>?>(nil)

    init(_ connectivity: (any ConnectivityMonitor)?) {
        self.connectivity = connectivity
    }

    deinit {
        watch.withLock { $0?.cancel() }
    }

    /// Calls a closure once when the device has a network again. If it appears to have one now, it must lose it first.
    /// Does nothing while another closure waits.
    func callOnce(_ perform: @escaping @Sendable () -> Void) {
        guard let connectivity else { return }
        watch.withLock { watch in
            guard watch == nil else { return }
            watch = Task.detached(priority: Task.currentPriority) { [weak self] in
                for await isConnected in connectivity.updates.dropFirst() where isConnected {
                    // Reset before the call: the refresh that it causes may fail and wait again.
                    self?.watch.withLock { $0 = nil }
                    return perform()
                }
                // The monitor has ended its updates. A later call asks for new ones.
                self?.watch.withLock { $0 = nil }
            }
        }
    }
}
