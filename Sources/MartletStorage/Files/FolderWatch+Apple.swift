#if canImport(Darwin)
    internal import Dispatch
    internal import MartletLibc

    /// Reports changes of files by watching their folder.
    ///
    /// `@unchecked Sendable` is correct because the only use of the source is `cancel()`, which any thread may call.
    package struct FolderWatch: @unchecked Sendable {
        private let source: any DispatchSourceFileSystemObject

        /// - Parameters:
        ///   - report: Called after a change of one of the files.
        ///   - reportEnd: Called once the folder was removed or moved, so that this watch sees no more changes.
        /// - Throws: An error if the folder cannot be watched, for example because the process has too many open files.
        package init(
            _ folder: String, reportChangesOf names: [String], to report: @escaping @Sendable () -> Void,
            reportEnd: @escaping @Sendable () -> Void = {}
        ) throws(StorageError) {
            let descriptor = System.open(folder, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw StorageError(couldNot: "watch", folder, nil) }
            let files = names.map { folder + "/" + $0 }
            let queue = BlockingQueue("martlet.folder-watch").queue
            source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .rename, .delete], queue: queue)
            let last = Locked(files.map(Self.identity))
            // The event does not name the file, and locks and temporary files change the folder, too.
            source.setEventHandler {
                guard Self.isFolder(descriptor, at: folder) else { return reportEnd() }
                let now = files.map(Self.identity)
                let isChanged = last.withLock { last in
                    defer { last = now }
                    return last != now
                }
                if isChanged { report() }
            }
            source.setCancelHandler { System.close(descriptor) }
            source.activate()
        }

        func cancel() {
            source.cancel()
        }

        /// Whether the folder that was opened is still the one at its path.
        private static func isFolder(_ descriptor: Int32, at path: String) -> Bool {
            var (opened, current) = (stat(), stat())
            return System.fstat(descriptor, &opened) == 0 && System.stat(path, &current) == 0
                && opened.st_ino == current.st_ino && opened.st_dev == current.st_dev
        }

        private static func identity(of file: String) -> Disk.Version? {
            var status = stat()
            return System.lstat(file, &status) == 0 ? Disk.Version(status) : nil
        }
    }
#endif
