#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Darwin)
    internal import Darwin

    /// Where Apple's systems differ from the others in what files need.
    enum Disk {
        /// Whether the bytes are on the disk now. `fsync` leaves them in the drive's cache here, but some file systems
        /// know nothing better.
        static func flush(_ descriptor: Int32) -> Bool {
            fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
        }

        /// What opens a file without a name in a folder; there are none here.
        static let unnamedFile: Int32? = nil

        static func canGiveName(toUnnamed descriptor: Int32) -> Bool { false }

        static func giveName(_ path: String, toUnnamed descriptor: Int32) -> Bool {
            errno = ENOTSUP
            return false
        }

        /// Where programs keep what is not for people to see, below the home folder. tvOS lets them have caches only.
        static func stateFolder(environment: [String: String], home: String) -> String {
            let folder = home + "/Library/Application Support"
            let isUsable = mkdir(folder, 0o700) == 0 || errno == EEXIST && access(folder, W_OK) == 0
            return isUsable ? folder : home + "/Library/Caches"
        }
    }

    extension stat {
        /// Seconds since 1970.
        var modificationTime: Int { st_mtimespec.tv_sec }
        /// What is left of the last second.
        var modificationNanoseconds: Int { st_mtimespec.tv_nsec }
    }
#else
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Android)
        internal import Android
    #endif

    /// Where Apple's systems differ from the others in what files need.
    enum Disk {
        /// Whether the bytes are on the disk now.
        static func flush(_ descriptor: Int32) -> Bool {
            fsync(descriptor) == 0
        }

        /// What opens a file without a name in a folder: `O_TMPFILE`, which Swift does not import.
        static let unnamedFile: Int32? = 0o20_000_000 | O_DIRECTORY

        /// Whether an unnamed file could get a name later, which needs `/proc`.
        static func canGiveName(toUnnamed descriptor: Int32) -> Bool {
            access("/proc/self/fd/\(descriptor)", F_OK) == 0
        }

        /// Gives an unnamed file a name, where nothing has that name yet.
        static func giveName(_ path: String, toUnnamed descriptor: Int32) -> Bool {
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
        }

        /// Where programs keep what is not for people to see (XDG base directory specification).
        static func stateFolder(environment: [String: String], home: String) -> String {
            environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/state"
        }
    }

    extension stat {
        /// Seconds since 1970.
        var modificationTime: Int { st_mtim.tv_sec }
        /// What is left of the last second.
        var modificationNanoseconds: Int { st_mtim.tv_nsec }
    }
#endif

extension Disk {
    /// Where a program of this name keeps what is not for people to see.
    static func stateFolder(of service: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? "."
        return stateFolder(environment: environment, home: home) + "/" + service.replacing("/", with: "-")
    }

    /// A folder whose names cannot be read.
    struct Unreadable: Error, CustomStringConvertible {
        fileprivate let reason = errno

        /// Whether there is no such folder.
        var isForWantOfFolder: Bool { reason == ENOENT || reason == ENOTDIR }
        var description: String { String(cString: strerror(reason)) }
    }

    /// Calls the closure with the name of each file in a folder, in no order.
    /// - Throws: ``Unreadable``.
    static func forEachName(in folder: String, _ body: (String) -> Void) throws(Unreadable) {
        guard let directory = opendir(folder) else { throw Unreadable() }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            body(name)
        }
    }
}
