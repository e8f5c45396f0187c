#if os(Linux) || os(Android)
    internal import Dispatch
    internal import MartletLibc

    /// Reports changes of files by watching their folder with inotify(7).
    package struct FolderWatch: Sendable {
        private let listener: Inotify.Listener
        private let inotify: Inotify

        /// - Parameters:
        ///   - report: Called after a change of one of the files.
        ///   - reportEnd: Called once the folder was removed or moved, so that this watch sees no more changes.
        /// - Throws: An error if the folder cannot be watched, for example because the user has no inotify watches
        ///   left.
        package init(
            _ folder: String, reportChangesOf names: [String], to report: @escaping @Sendable () -> Void,
            reportEnd: @escaping @Sendable () -> Void = {}
        ) throws(StorageError) {
            try self.init(folder, reportChangesOf: names, to: report, reportEnd: reportEnd, inotify: .shared)
        }

        init(
            _ folder: String, reportChangesOf names: [String], to report: @escaping @Sendable () -> Void,
            reportEnd: @escaping @Sendable () -> Void = {}, inotify: Inotify
        ) throws(StorageError) {
            listener = Inotify.Listener(names: names.map { Array($0.utf8) }, report: report, reportEnd: reportEnd)
            self.inotify = inotify
            try inotify.add(listener, to: folder)
        }

        func cancel() {
            inotify.remove(listener)
        }
    }

    /// An inotify instance. All watches of the process share one, because a user may have only 128 by default, and an
    /// app may have a store for each of its accounts.
    final class Inotify: Sendable {
        static let shared = Inotify()

        /// Never closed: a process that has watched a file will do so again.
        ///
        /// `@unchecked Sendable` is correct because the source is only kept, never used again.
        private struct Instance: @unchecked Sendable {
            let descriptor: Int32
            let source: any DispatchSourceRead
        }

        private struct State: Sendable {
            var instance: Instance?
            /// The listeners by the number of their watch. A folder has one watch, even if it has several listeners.
            var listeners: [Int32: [Listener]] = [:]
            /// How often a watch has been removed.
            var removals = 0
        }

        private let state = Locked(State())

        /// The number of folders that are watched.
        var watchCount: Int { state.withLock(\.listeners.count) }

        func add(_ listener: Listener, to folder: String) throws(StorageError) {
            // Files are replaced, deleted or moved away, never written in place.
            let mask = UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
            var isAdded = false
            while !isAdded {
                guard let (descriptor, removals) = opened() else { throw StorageError(couldNot: "watch", folder, nil) }
                // Outside of the lock, because finding the folder may block.
                let watch = System.inotifyAddWatch(descriptor, folder, mask)
                guard watch >= 0 else { throw StorageError(couldNot: "watch", folder, nil) }
                // For a folder that is watched already, this is the number of that watch, which may have been removed
                // in the meantime.
                isAdded = state.withLock { state in
                    guard state.removals == removals else { return false }
                    state.listeners[watch, default: []].append(listener)
                    return true
                }
            }
        }

        func remove(_ listener: Listener) {
            listener.cancel()
            state.withLock { state in
                for (watch, listeners) in state.listeners where listeners.contains(where: { $0 === listener }) {
                    state.listeners[watch] = listeners.filter { $0 !== listener }
                    if listeners.count == 1 { Self.removeWatch(watch, &state) }
                }
            }
        }

        /// - Returns: The descriptor of the instance, and the number of removals; `nil`, with the reason in `errno`, if
        ///   the system allows no instance.
        private func opened() -> (descriptor: Int32, removals: Int)? {
            state.withLock { state in
                if let instance = state.instance { return (instance.descriptor, state.removals) }
                let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
                guard descriptor >= 0 else { return nil }
                let source = DispatchSource.makeReadSource(
                    fileDescriptor: descriptor, queue: BlockingQueue("martlet.folder-watch").queue)
                source.setEventHandler { [weak self] in self?.reportEvents(of: descriptor) }
                source.setCancelHandler { System.close(descriptor) }
                source.activate()
                state.instance = Instance(descriptor: descriptor, source: source)
                return (descriptor, state.removals)
            }
        }

        deinit {
            state.withLock { $0.instance?.source.cancel() }
        }

        private static func removeWatch(_ watch: Int32, _ state: inout State) {
            state.listeners[watch] = nil
            state.removals += 1
            // Fails if the system has removed the watch together with its folder.
            if let instance = state.instance { _ = inotify_rm_watch(instance.descriptor, watch) }
        }

        /// Reads all pending events.
        private func reportEvents(of descriptor: Int32) {
            let headSize = MemoryLayout<inotify_event>.size
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = System.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                var start = 0
                while start + headSize <= count {
                    let event = buffer.withUnsafeBytes {
                        $0.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                    }
                    let end = min(start + headSize + Int(event.len), count)
                    report(event, name: buffer[(start + headSize)..<end].prefix { $0 != 0 })
                    start = end
                }
            }
        }

        private func report(_ event: inotify_event, name: ArraySlice<UInt8>) {
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                // Events were lost.
                for listener in state.withLock({ $0.listeners.values.joined().map { $0 } }) { listener.report() }
            } else if event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0 {
                let listeners = state.withLock { state in
                    let listeners = state.listeners[event.wd] ?? []
                    Self.removeWatch(event.wd, &state)
                    return listeners
                }
                for listener in listeners { listener.reportEnd() }
            } else {
                let listeners = state.withLock { $0.listeners[event.wd] ?? [] }
                for listener in listeners where listener.names.contains(where: name.elementsEqual) {
                    listener.report()
                }
            }
        }
    }

    extension Inotify {
        /// The closures of a watch, and the queue that calls them.
        final class Listener: Sendable {
            private struct Pending {
                var isReport = false
                var isCancelled = false
            }

            let names: [[UInt8]]
            private let pending = Locked(Pending())
            private let queue = BlockingQueue("martlet.folder-watch")
            private let onChange: @Sendable () -> Void
            private let onEnd: @Sendable () -> Void

            init(
                names: [[UInt8]], report: @escaping @Sendable () -> Void, reportEnd: @escaping @Sendable () -> Void
            ) {
                self.names = names
                onChange = report
                onEnd = reportEnd
            }

            /// Calls the closure soon, once for all changes until then.
            func report() {
                let isFirst = pending.withLock { pending in
                    defer { pending.isReport = true }
                    return !pending.isReport
                }
                guard isFirst else { return }
                queue.start {
                    let isCancelled = self.pending.withLock { pending in
                        pending.isReport = false
                        return pending.isCancelled
                    }
                    if !isCancelled { self.onChange() }
                }
            }

            func reportEnd() {
                queue.start {
                    if !self.pending.withLock(\.isCancelled) { self.onEnd() }
                }
            }

            func cancel() {
                pending.withLock { $0.isCancelled = true }
            }
        }
    }
#endif
