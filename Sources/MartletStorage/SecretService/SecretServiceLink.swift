#if os(Linux)
    /// The process's connection to the Secret Service, and the queue for all calls to it.
    ///
    /// GLib has one connection to the session bus per process, and opens a new one only after all references to the old
    /// one are gone. All storages therefore share this link, which drops a connection that fails.
    package final class SecretServiceLink: Sendable {
        static let shared = SecretServiceLink { () throws(StorageError) in try LibSecret.system.get() }

        private let load: @Sendable () throws(StorageError) -> LibSecret
        private let queue = BlockingQueue("martlet.secret-service")
        private let limits = TimeLimits(time: .system, keepsSleeper: false)
        private let connection = Connection()

        /// - Parameter load: Finds the library. Called on the queue, for each call.
        package init(_ load: @escaping @Sendable () throws(StorageError) -> LibSecret) {
            self.load = load
        }

        /// Runs `work` on the queue, and again on a new connection if it fails.
        ///
        /// The caller waits for at most the limit, even if other calls occupy the queue, and even if its task is
        /// cancelled. If `work` has not begun by then, it never runs.
        func run<Outcome: Sendable>(
            within limit: Duration,
            _ work: @escaping @Sendable (SecretServiceCall) throws(StorageError) -> Outcome
        ) async throws(StorageError) -> Outcome {
            // Use an unstructured task, so that cancellation does not interrupt a change of secrets halfway.
            let result = await Task { [limits] in
                await limits.run(within: limit) {
                    try await self.enqueue(work).get()
                }
            }.value
            switch result {
            case .success(let outcome):
                return outcome
            case .failure(let failure as StorageError):
                throw failure
            case .failure:
                throw StorageError(.unreachable, "the Secret Service did not respond within \(limit); try again")
            }
        }

        private func enqueue<Outcome: Sendable>(
            _ work: @escaping @Sendable (SecretServiceCall) throws(StorageError) -> Outcome
        ) async -> Result<Outcome, StorageError> {
            let stop = Stop()
            return await withTaskCancellationHandler {
                await queue.run { [load, connection] in
                    Result { () throws(StorageError) in try connection.perform(work, load, until: stop) }
                }
            } onCancel: {
                stop.call()
            }
        }
    }

    /// Interrupts a blocking call from another thread.
    private final class Stop: Sendable {
        private struct State {
            var isCalled = false
            var action: (@Sendable () -> Void)?
        }

        private let state = Locked(State())

        var isCalled: Bool { state.withLock { $0.isCalled } }

        func call() {
            let action = state.withLock { state in
                state.isCalled = true
                return state.action
            }
            action?()
        }

        /// - Returns: Whether the call has not been interrupted yet.
        func onCall(_ action: @escaping @Sendable () -> Void) -> Bool {
            state.withLock { state in
                state.action = action
                return !state.isCalled
            }
        }
    }

    /// The session bus and the Secret Service on it, opened when they are first needed and kept for later calls.
    ///
    /// `@unchecked Sendable` is correct because only the jobs on the link's serial queue use it.
    private final class Connection: @unchecked Sendable {
        private var bus: GLibObject?
        private var service: GLibObject?
        /// Collects the signals of the service. Never released, like the link itself.
        private var context: LibSecret.Pointer?

        func perform<Outcome>(
            _ work: (SecretServiceCall) throws(StorageError) -> Outcome,
            _ load: () throws(StorageError) -> LibSecret, until stop: Stop
        ) throws(StorageError) -> Outcome {
            let outOfTime = StorageError(
                .unreachable, "the call to the Secret Service timed out before it began; try again")
            if stop.isCalled { throw outOfTime }
            let library = try load()
            guard let cancellable = GLibObject(library.makeCancellable(), library),
                stop.onCall({ cancellable.use { library.cancel($0) } })
            else { throw outOfTime }
            do throws(StorageError) {
                return try attempt(work, library, cancellable)
            } catch {
                // Retry once: the daemon may have been restarted, or an item deleted between two steps.
                guard error.kind != .locked, bus != nil, !stop.isCalled else { throw error }
            }
            close()
            return try attempt(work, library, cancellable)
        }

        private func attempt<Outcome>(
            _ work: (SecretServiceCall) throws(StorageError) -> Outcome, _ library: LibSecret,
            _ cancellable: GLibObject
        ) throws(StorageError) -> Outcome {
            if context == nil { context = library.makeContext() }
            // Without its own context, GLib would queue its signals for the main context, which may never run. The
            // queued signals would keep a closed connection alive, and GLib would return it again.
            library.pushContext(context)
            defer {
                deliverSignals(library)
                library.popContext(context)
            }
            deliverSignals(library)
            try openBus(library, cancellable)
            return try work(
                SecretServiceCall(
                    library: library, service: openService(library, cancellable), cancellable: cancellable))
        }

        private func openBus(_ library: LibSecret, _ cancellable: GLibObject) throws(StorageError) {
            if let bus, bus.use({ library.isClosed($0) }) == 0 { return }
            close()
            bus = try connect(library) { place in
                cancellable.use { library.connectToBus(2, $0, place) }
            }
            // By default, GLib ends the process when the bus closes the connection.
            bus?.use { library.setExitsOnClose($0, 0) }
        }

        private func openService(_ library: LibSecret, _ cancellable: GLibObject) throws(StorageError) -> GLibObject {
            if let service { return service }
            let opened = try connect(library) { place in
                cancellable.use { library.openService(library.serviceType(), nil, 0, $0, place) }
            }
            service = opened
            return opened
        }

        private func connect(
            _ library: LibSecret, _ call: (LibSecret.ErrorPlace) -> LibSecret.Pointer?
        ) throws(StorageError) -> GLibObject {
            do throws(GLibError) {
                if let object = GLibObject(try library.check(call), library) { return object }
            } catch {
                throw StorageError(connecting: error)
            }
            throw StorageError(
                .unreachable, "there is no session bus to reach the Secret Service on; run in a desktop session")
        }

        /// Delivers the queued signals of GLib.
        private func deliverSignals(_ library: LibSecret) {
            guard let context else { return }
            while library.iterateContext(context, 0) != 0 {}
        }

        private func close() {
            service = nil
            bus = nil
        }
    }
#endif
