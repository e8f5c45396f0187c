internal import MartletLibc

extension StorageError {
    /// Creates an error from `errno` after a file operation has failed.
    /// - Parameters:
    ///   - what: The action that failed, as in "lock" or "read".
    ///   - protection: `nil` on systems where files can always be opened. On others, `EPERM` means that the device is
    ///     locked.
    package init(couldNot what: String, _ path: String, _ protection: DataProtection?) {
        let isLocked = errno == EPERM && protection != nil
        let isOutOfResources = Disk.isOutOfResources(errno)
        let reason = isLocked ? "the device is locked. Unlock it" : Disk.reason(at: path)
        self.init(isLocked ? .locked : .unreachable, "could not \(what) \(path): \(reason)")
        self.isOutOfResources = isOutOfResources
    }
}
