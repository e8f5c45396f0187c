#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The files through which processes coordinate their use of a record that is not a file itself: two lock files, the
/// ``EndMark``, and a file that a process replaces to report a change. They contain no secrets.
package struct CoordinationFiles: Sendable {
    package let updateLock: ProcessLock
    package let refreshLock: ProcessLock
    package let markFile: PrivateFile
    package let changeMarker: FileChanges

    /// A change takes milliseconds, or the timeout of a service that does not respond. A process that holds the lock
    /// for longer is presumed suspended.
    package static let updateLease = Duration.seconds(15)

    /// - Parameters:
    ///   - folder: Created when needed.
    ///   - key: The name of the record. Each record has its own files.
    package init(
        folder: String, key: String, time: any TimeSource, activities: ExpiringActivities? = .platform,
        steps: FileSteps = .unobserved
    ) {
        let path = folder + "/" + EscapedName.path(of: key)
        updateLock = ProcessLock(path: path + ".lock", time: time, activities: activities, steps: steps)
        refreshLock = ProcessLock(path: path + ".refresh.lock", time: time, activities: activities, steps: steps)
        markFile = PrivateFile(path: path + ".ended", steps: steps, protectionClass: .none)
        changeMarker = FileChanges(
            of: PrivateFile(path: path + ".changed", steps: steps, protectionClass: .none), and: markFile,
            on: BlockingQueue("martlet.coordination-files"))
    }

    /// Reports a change to all processes. If that fails, they notice the change at their next refresh.
    package func reportChange() async {
        await changeMarker.queue.run { [file = changeMarker.file] in
            // Temporary files were left by killed processes, because the update lock is held. If no process can take
            // the lock, this may remove the file of another process, and only its report is lost.
            file.removeLeftovers(olderThan: 0)
            _ = try? file.replace(with: Data(), if: { true })
        }
    }

    /// Yields after each reported change. See ``watchBegun()``.
    package func changes() -> AsyncStream<Void> {
        changeMarker.stream()
    }

    /// Returns when the streams report all further changes.
    package func watchBegun() async {
        await changeMarker.watchBegun()
    }
}
