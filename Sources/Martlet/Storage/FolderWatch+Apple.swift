#if canImport(Darwin)
    internal import Darwin
    internal import Dispatch

    /// Tells of changes to a file by way of its folder, where names come and go when a record is replaced or deleted.
    ///
    /// Unchecked, because Dispatch does not mark its sources: they may be cancelled on any thread, and this does nothing else.
    struct FolderWatch: @unchecked Sendable {
        private let source: any DispatchSourceFileSystemObject

        /// - Returns: `nil` where the folder cannot be watched.
        init?(_ folder: String, reportChangesOf name: String, to report: @escaping @Sendable () -> Void) {
            let descriptor = open(folder, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let file = folder + "/" + name
            let queue = DispatchQueue(label: "martlet.folder-watch")
            source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor, eventMask: [.write, .rename, .delete], queue: queue)
            let last = Locked(Self.identity(of: file))
            // The event names no file: locks and temporary files come and go in the same folder.
            source.setEventHandler {
                let now = Self.identity(of: file)
                let isChanged = last.withLock { last in
                    defer { last = now }
                    return last != now
                }
                if isChanged { report() }
            }
            source.setCancelHandler { close(descriptor) }
            source.activate()
        }

        func cancel() {
            source.cancel()
        }

        private static func identity(of file: String) -> [Int] {
            var status = stat()
            guard lstat(file, &status) == 0 else { return [] }
            return [Int(status.st_ino), status.modificationTime, status.modificationNanoseconds]
        }
    }
#endif
