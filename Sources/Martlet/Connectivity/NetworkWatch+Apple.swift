#if canImport(Network)
    internal import Dispatch
    internal import Network

    /// Reports whether the device has a network: once at the start, and whenever the system's network path changes,
    /// until this object is released.
    ///
    /// `@unchecked Sendable` is correct because, once the monitor runs, the only use of it is `cancel()`, which any
    /// thread may call.
    final class NetworkWatch: @unchecked Sendable {
        private let monitor = NWPathMonitor()

        init(_ report: @escaping @Sendable (Bool) -> Void) {
            // A path that requires a connection, such as a VPN on demand, is established by a request.
            monitor.pathUpdateHandler = { path in report(path.status != .unsatisfied) }
            monitor.start(queue: BlockingQueue("martlet.connectivity").queue)
        }

        deinit { monitor.cancel() }
    }
#endif
