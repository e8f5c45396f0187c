#if os(Linux) || os(Android)
    internal import Dispatch
    internal import MartletLibc

    /// Reports changes of files by watching their folder with inotify(7).
    ///
    /// `@unchecked Sendable` is correct because the only use of the source is `cancel()`, which any thread may call.
    package struct FolderWatch: @unchecked Sendable {
        private let source: any DispatchSourceRead

        /// - Parameters:
        ///   - report: Called after a change of one of the files.
        ///   - reportEnd: Called once the folder was removed or moved, so that this watch sees no more changes.
        /// - Throws: An error if the folder cannot be watched, for example because the user has no inotify watches
        ///   left.
        package init(
            _ folder: String, reportChangesOf names: [String], to report: @escaping @Sendable () -> Void,
            reportEnd: @escaping @Sendable () -> Void = {}
        ) throws(StorageError) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard descriptor >= 0 else { throw StorageError(couldNot: "watch", folder, nil) }
            // Files are replaced, deleted or moved away, never written in place.
            let mask = UInt32(
                IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
            guard System.inotifyAddWatch(descriptor, folder, mask) >= 0 else {
                let error = StorageError(couldNot: "watch", folder, nil)
                System.close(descriptor)
                throw error
            }
            source = DispatchSource.makeReadSource(
                fileDescriptor: descriptor, queue: BlockingQueue("martlet.folder-watch").queue)
            let names = names.map { Array($0.utf8) }
            source.setEventHandler {
                let news = Self.drain(descriptor, mentions: names)
                if news.isOver { reportEnd() } else if news.isMentioned { report() }
            }
            source.setCancelHandler { System.close(descriptor) }
            source.activate()
        }

        func cancel() {
            source.cancel()
        }

        /// Reads all pending events.
        /// - Returns: Whether one mentions a file, or events were lost because the queue overflowed; and whether the
        ///   folder was removed, moved or unmounted.
        private static func drain(
            _ descriptor: Int32, mentions names: [[UInt8]]
        ) -> (isMentioned: Bool, isOver: Bool) {
            let headSize = MemoryLayout<inotify_event>.size
            var buffer = [UInt8](repeating: 0, count: 4096)
            var (isMentioned, isOver) = (false, false)
            while true {
                let count = System.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return (isMentioned, isOver) }
                var start = 0
                while start + headSize <= count {
                    let event = buffer.withUnsafeBytes {
                        $0.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                    }
                    let end = min(start + headSize + Int(event.len), count)
                    let found = buffer[(start + headSize)..<end].prefix { $0 != 0 }
                    if names.contains(where: found.elementsEqual) || event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                        isMentioned = true
                    }
                    if event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0 {
                        isOver = true
                    }
                    start = end
                }
            }
        }
    }
#endif
