#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// Files without a name, which go with their last descriptor however their process ends, and may get a name later.
/// Linux has them (`O_TMPFILE`), on most of its file systems.
enum UnnamedFile {
    #if canImport(Darwin)
        static func make(in folder: String, mode: mode_t) -> Int32? { nil }

        static func giveName(_ path: String, to descriptor: Int32) -> Bool {
            errno = ENOTSUP
            return false
        }
    #else
        /// `O_TMPFILE`, which Swift does not import.
        private static let flag = 0o20_000_000 | O_DIRECTORY

        /// An empty one, open for reading and writing.
        /// - Returns: Its descriptor; `nil` where there is no such file, or where it could get no name later, which needs
        ///   `/proc`.
        static func make(in folder: String, mode: mode_t) -> Int32? {
            while true {
                let descriptor = open(folder, flag | O_RDWR | O_CLOEXEC, mode)
                if descriptor < 0, errno == EINTR { continue }
                guard descriptor >= 0 else { return nil }
                if access(link(to: descriptor), F_OK) == 0 { return descriptor }
                close(descriptor)
                return nil
            }
        }

        /// Gives one a name, where nothing has that name yet; `errno` says why not.
        static func giveName(_ path: String, to descriptor: Int32) -> Bool {
            linkat(AT_FDCWD, link(to: descriptor), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
        }

        private static func link(to descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }
    #endif
}
