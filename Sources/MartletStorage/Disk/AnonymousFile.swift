package import MartletLibc

/// Creates files without a name, and names them later. The system deletes such a file when its last descriptor is
/// closed, even if the process is killed. Most file systems on Linux support this (`O_TMPFILE`).
package enum AnonymousFile {
    #if canImport(Darwin)
        package static func make(in folder: String, mode: mode_t) -> Int32? { nil }

        package static func giveName(_ path: String, to descriptor: Int32) -> Bool {
            errno = ENOTSUP
            return false
        }
    #else
        /// `O_TMPFILE`, which Swift does not import.
        private static let flag = 0o20_000_000 | O_DIRECTORY

        /// Creates an empty file, open for reading and writing.
        /// - Returns: The descriptor; `nil` if the file system does not support such files, or if there is no `/proc`,
        ///   which `giveName(_:to:)` needs.
        package static func make(in folder: String, mode: mode_t) -> Int32? {
            while true {
                let descriptor = System.open(folder, flag | O_RDWR | O_CLOEXEC, mode)
                if descriptor < 0, errno == EINTR { continue }
                guard descriptor >= 0 else { return nil }
                if System.access(link(to: descriptor), F_OK) == 0 { return descriptor }
                System.close(descriptor)
                return nil
            }
        }

        /// Gives the file a name that is not in use. If that fails, `errno` says why; it is `ENOTSUP` if the file
        /// system has no links.
        package static func giveName(_ path: String, to descriptor: Int32) -> Bool {
            if System.linkat(AT_FDCWD, link(to: descriptor), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return true }
            Disk.mapMissingLinkSupport()
            return false
        }

        private static func link(to descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }
    #endif
}
