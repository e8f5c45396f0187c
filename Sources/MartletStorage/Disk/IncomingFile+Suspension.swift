internal import MartletLibc

/// Gives up the lock of a file while the process is suspended.
extension IncomingFile {
    /// The state of the file when its lock was given up.
    package struct Mark: Sendable, Hashable {
        /// The hidden path; `nil` if no other process can find the file.
        fileprivate let name: String?
        fileprivate let version: Disk.Version
        fileprivate let size: Int64
        /// The resume data beside the file of a download that can be resumed.
        fileprivate let resumeData: Disk.Version?
    }

    /// Unlocks the file.
    /// - Returns: `nil` if the file cannot be examined, and must no longer be used.
    package func giveUpLock() -> Mark? {
        defer { System.flock(descriptor, LOCK_UN) }
        return mark(as: hiddenPath)
    }

    /// Locks the file again.
    /// - Throws: A ``FileError/Kind/takenOver`` if another process has locked, moved, removed or changed it.
    package func takeLockAgain(_ mark: Mark?) throws(FileError) {
        if StaleFiles.claim(descriptor) != .heldElsewhere {
            if let mark, mark.name.map(isStill) ?? true, self.mark(as: mark.name) == mark { return }
            System.flock(descriptor, LOCK_UN)
        }
        throw FileError(.takenOver, path: destination.path)
    }

    private func mark(as name: String?) -> Mark? {
        var status = stat()
        guard System.fstat(descriptor, &status) == 0 else { return nil }
        let size = Int64(status.st_size)
        let version = Disk.Version(status)
        var ofResumeData: Disk.Version?
        if name == destination.partial, System.lstat(destination.resumeData, &status) == 0 {
            ofResumeData = Disk.Version(status)
        }
        return Mark(name: name, version: version, size: size, resumeData: ofResumeData)
    }
}
