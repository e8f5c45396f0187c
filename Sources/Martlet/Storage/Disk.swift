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

        /// Gives a file another name, where nothing has that name yet, in one step (`renamex_np`).
        /// - Returns: What the system says: 0, or -1 with the reason in `errno`.
        static func renameExclusively(_ old: String, _ new: String) -> Int32 {
            renamex_np(old, new, UInt32(RENAME_EXCL))
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

        /// Gives a file another name, where nothing has that name yet, in one step (`renameat2`).
        /// - Returns: What the system says: 0, or -1 with the reason in `errno`.
        static func renameExclusively(_ old: String, _ new: String) -> Int32 {
            guard let renameat2 else {
                errno = ENOSYS
                return -1
            }
            let noReplacing: UInt32 = 1
            return renameat2(AT_FDCWD, old, AT_FDCWD, new, noReplacing)
        }

        /// Looked up, since C libraries that are still in use lack it, such as glibc before 2.28; `nil` in those.
        private static let renameat2: (@convention(c) (Int32, CString, Int32, CString, UInt32) -> Int32)? = {
            guard let symbol = dlsym(nil, "renameat2") else { return nil }
            // Every C library that has the symbol follows the kernel's call: `int renameat2(int, const char *, int,
            // const char *, unsigned int)`.
            return unsafeBitCast(
                symbol, to: (@convention(c) (Int32, CString, Int32, CString, UInt32) -> Int32).self)
        }()

        private typealias CString = UnsafePointer<CChar>

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
    /// Gives a file another name, where nothing has that name yet; `errno` says why not.
    ///
    /// File systems without hard links (FAT, many network shares) can only rename so, others only link.
    /// - Parameter rename: How it is renamed without taking another file's place.
    static func move(
        _ old: String, toUnused new: String, rename: (String, String) -> Int32 = renameExclusively
    ) -> Bool {
        if rename(old, new) == 0 { return true }
        guard [EINVAL, ENOTSUP, ENOSYS].contains(errno), link(old, new) == 0 else { return false }
        unlink(old)
        return true
    }

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
