/// Reports the steps of a change of a file, for tests that kill or suspend the process at one of them.
package struct FileSteps: Sendable {
    /// A step of a ``FileLock``, a ``PrivateFile`` or a ``PartialDownload``.
    package enum Step: Sendable, Hashable {
        /// The last file of the lock's sequence is locked.
        case locked
        /// The signature of the holder is in the locked file.
        case lockSigned
        /// The next file of the lock's sequence exists under a temporary name, and is locked and signed.
        case successorMade
        /// The next file of the lock's sequence has its name, so the previous holder has lost the lock.
        case takenAway
        /// The temporary file exists and is empty.
        case temporaryMade
        /// The temporary file has its contents.
        case written
        /// The temporary file is flushed to the disk.
        case flushed
        /// The temporary file has replaced the file.
        case renamed
        /// The folder is flushed to the disk, so that a crash cannot undo the change.
        case folderFlushed
        /// The file is deleted.
        case unlinked
        /// The resume data of a download has replaced that of an earlier one.
        case resumeDataWritten
    }

    /// Called after each step, on the thread that does the work.
    package var reached: @Sendable (Step) -> Void = { _ in }

    /// Flushes a file or a folder to the disk.
    var flush: @Sendable (CInt) -> Bool = { Disk.flush($0) }

    /// The system's encryption of files; `nil` if it has none.
    var protection = DataProtection.platform

    /// Reports nothing.
    package static let unobserved = FileSteps()
}
