#if os(Linux)
    internal import Dispatch

    /// The process's one connection to the Secret Service, and the queue on which all calls to it are made.
    ///
    /// GLib shares one connection to the session bus in the whole process and makes a new one only when nobody holds the
    /// old one any more: so there is one link for all storages, and it lets go of a connection that gives trouble.
    final class SecretServiceLink: Sendable {
        static let shared = SecretServiceLink { () throws(StorageFailure) in try LibSecret.system.get() }

        private let load: @Sendable () throws(StorageFailure) -> LibSecret
        private let queue = DispatchQueue(label: "martlet.secret-service")
        private let limits = TimeLimits(time: .system, sleepsOn: false)
        private let connection = Connection()

        /// - Parameter load: Finds the library; called on the queue, for each call anew.
        init(_ load: @escaping @Sendable () throws(StorageFailure) -> LibSecret) {
            self.load = load
        }

        /// Runs `work` on the queue, once more on a new connection where it fails.
        ///
        /// The caller waits until the limit and no longer, whatever is before it in the queue and whatever becomes of
        /// `work`; and until then even if its task is cancelled. What has not begun by then never does.
        func run<Outcome: Sendable>(
            within limit: Duration,
            _ work: @escaping @Sendable (SecretServiceCall) throws(StorageFailure) -> Outcome
        ) async throws(StorageFailure) -> Outcome {
            // In a task of its own, which nobody cancels: what is done with secrets is not left half known.
            let result = await Task { [limits] in
                await limits.run(within: limit) {
                    try await self.enqueue(work).get()
                }
            }.value
            switch result {
            case .success(let outcome):
                return outcome
            case .failure(let failure as StorageFailure):
                throw failure
            case .failure:
                throw StorageFailure(.unreachable, "the Secret Service has not answered within \(limit)")
            }
        }

        private func enqueue<Outcome: Sendable>(
            _ work: @escaping @Sendable (SecretServiceCall) throws(StorageFailure) -> Outcome
        ) async -> Result<Outcome, StorageFailure> {
            let stop = Stop()
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    queue.async { [load, connection] in
                        let result = Result { () throws(StorageFailure) in
                            try connection.perform(work, load, until: stop)
                        }
                        continuation.resume(returning: result)
                    }
                }
            } onCancel: {
                stop.call()
            }
        }
    }

    /// Ends a blocking call from another thread.
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

        /// - Returns: Whether it is not too late for that.
        func onCall(_ action: @escaping @Sendable () -> Void) -> Bool {
            state.withLock { state in
                state.action = action
                return !state.isCalled
            }
        }
    }

    /// Unchecked, because only the one job that the link's serial queue runs at a time touches what is in it.
    private final class Connection: @unchecked Sendable {
        private var bus: GLibObject?
        private var service: GLibObject?
        /// Where GLib leaves what it has to tell about the service; never given back, like the link itself.
        private var context: LibSecret.Pointer?

        func perform<Outcome>(
            _ work: (SecretServiceCall) throws(StorageFailure) -> Outcome,
            _ load: () throws(StorageFailure) -> LibSecret, until stop: Stop
        ) throws(StorageFailure) -> Outcome {
            let outOfTime = StorageFailure(.unreachable, "there was no time left to ask the Secret Service")
            if stop.isCalled { throw outOfTime }
            let library = try load()
            guard let cancellable = GLibObject(library.makeCancellable(), library),
                stop.onCall({ cancellable.use { library.cancel($0) } })
            else { throw outOfTime }
            do throws(StorageFailure) {
                return try attempt(work, library, cancellable)
            } catch {
                // A second attempt is for a daemon that was started anew, and for what has gone between two steps.
                guard error.kind != .locked, bus != nil, !stop.isCalled else { throw error }
            }
            close()
            return try attempt(work, library, cancellable)
        }

        private func attempt<Outcome>(
            _ work: (SecretServiceCall) throws(StorageFailure) -> Outcome, _ library: LibSecret,
            _ cancellable: GLibObject
        ) throws(StorageFailure) -> Outcome {
            if context == nil { context = library.makeContext() }
            // Without a context of our own GLib would keep what it has to tell for the main one, which may never run; and
            // with it a connection that is closed, which it would then give us again.
            library.pushContext(context)
            defer {
                tellAll(library)
                library.popContext(context)
            }
            tellAll(library)
            try openBus(library, cancellable)
            return try work(
                SecretServiceCall(
                    library: library, service: openService(library, cancellable), cancellable: cancellable))
        }

        private func openBus(_ library: LibSecret, _ cancellable: GLibObject) throws(StorageFailure) {
            if let bus, bus.use({ library.isClosed($0) }) == 0 { return }
            close()
            bus = try connect(library) { place in
                cancellable.use { library.connectToBus(2, $0, place) }
            }
            // GLib would end this process when the bus goes away.
            bus?.use { library.setExitsOnClose($0, 0) }
        }

        private func openService(_ library: LibSecret, _ cancellable: GLibObject) throws(StorageFailure) -> GLibObject {
            if let service { return service }
            let opened = try connect(library) { place in
                cancellable.use { library.openService(library.serviceType(), nil, 0, $0, place) }
            }
            service = opened
            return opened
        }

        private func connect(
            _ library: LibSecret, _ call: (LibSecret.ErrorPlace) -> LibSecret.Pointer?
        ) throws(StorageFailure) -> GLibObject {
            do throws(GLibError) {
                if let object = GLibObject(try library.check(call), library) { return object }
            } catch {
                throw StorageFailure(connecting: error)
            }
            throw StorageFailure(.unreachable, "there is no session bus to reach the Secret Service on")
        }

        /// Lets GLib tell whoever listens what has happened since the last time.
        private func tellAll(_ library: LibSecret) {
            guard let context else { return }
            while library.iterateContext(context, 0) != 0 {}
        }

        private func close() {
            service = nil
            bus = nil
        }
    }
#endif
