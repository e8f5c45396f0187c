internal import MartletLibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Darwin)
    /// File operations that differ between Apple platforms and others.
    package enum Disk {
        /// Flushes a file to the disk. On Apple platforms `fsync` alone leaves the bytes in the drive's cache, but some
        /// file systems support nothing else.
        /// - Returns: Whether that succeeded.
        package static func flush(_ descriptor: Int32) -> Bool {
            BlockingCalls.check("fcntl")
            return fcntl(descriptor, F_FULLFSYNC) == 0 || System.fsync(descriptor) == 0
        }

        /// Renames a file atomically, to a name that is not in use (`renamex_np`).
        /// - Returns: 0, or -1 with the reason in `errno`.
        package static func renameExclusively(_ old: String, _ new: String) -> Int32 {
            BlockingCalls.check("renamex_np")
            return renamex_np(old, new, UInt32(RENAME_EXCL))
        }

        /// The folder for the state of programs. tvOS allows caches only.
        package static func stateFolder(environment: [String: String], home: @autoclosure () -> String) -> String {
            let home = home()
            let folder = home + "/Library/Application Support"
            let isUsable = System.mkdir(folder, 0o700) == 0 || errno == EEXIST && System.access(folder, W_OK) == 0
            return isUsable ? folder : home + "/Library/Caches"
        }
    }

    extension stat {
        /// In seconds since 1970.
        var modificationTime: Int { st_mtimespec.tv_sec }
        /// The fraction of ``modificationTime``.
        var modificationNanoseconds: Int { st_mtimespec.tv_nsec }
    }
#else
    /// File operations that differ between Apple platforms and others.
    package enum Disk {
        /// Flushes a file to the disk.
        /// - Returns: Whether that succeeded.
        package static func flush(_ descriptor: Int32) -> Bool {
            System.fsync(descriptor) == 0
        }

        /// Renames a file atomically, to a name that is not in use (`renameat2`).
        /// - Returns: 0, or -1 with the reason in `errno`.
        package static func renameExclusively(_ old: String, _ new: String) -> Int32 {
            guard let renameat2 else {
                errno = ENOSYS
                return -1
            }
            BlockingCalls.check("renameat2")
            if System.injectsFault(into: "renameat2", at: new) { return -1 }
            let noReplacing: UInt32 = 1
            return renameat2(AT_FDCWD, old, AT_FDCWD, new, noReplacing)
        }

        /// `nil` if the C library lacks the function, as glibc before 2.28 does.
        private static let renameat2: (@convention(c) (Int32, CString, Int32, CString, UInt32) -> Int32)? = {
            guard let symbol = dlsym(nil, "renameat2") else { return nil }
            // In every C library the type is that of the system call: `int renameat2(int, const char *, int,
            // const char *, unsigned int)`.
            return unsafeBitCast(
                symbol, to: (@convention(c) (Int32, CString, Int32, CString, UInt32) -> Int32).self)
        }()

        private typealias CString = UnsafePointer<CChar>

        /// The folder for the state of programs (XDG base directory specification).
        package static func stateFolder(environment: [String: String], home: @autoclosure () -> String) -> String {
            environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home() + "/.local/state"
        }
    }

    extension stat {
        /// In seconds since 1970.
        var modificationTime: Int { st_mtim.tv_sec }
        /// The fraction of ``modificationTime``.
        var modificationNanoseconds: Int { st_mtim.tv_nsec }
    }
#endif

extension Disk {
    /// Renames a file to a name that is not in use. If that fails, `errno` says why.
    ///
    /// Some file systems support only the exclusive rename (FAT, many network shares), others only hard links. If this
    /// one supports neither, the reason is `ENOTSUP`.
    /// - Parameter rename: The exclusive rename.
    package static func move(
        _ old: String, toUnused new: String, rename: (String, String) -> Int32 = renameExclusively
    ) -> Bool {
        if rename(old, new) == 0 { return true }
        guard [EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else { return false }
        guard System.link(old, new) == 0 else {
            mapMissingLinkSupport()
            return false
        }
        System.unlink(old)
        return true
    }

    /// Changes `errno` to `ENOTSUP` if the last call failed because the file system has no hard links. Systems and file
    /// systems report that with different codes (link(2)).
    package static func mapMissingLinkSupport() {
        if [EPERM, EMLINK, ENOSYS, EOPNOTSUPP].contains(errno) { errno = ENOTSUP }
    }

    /// The folder for the state of the program with this name.
    ///
    /// Without an absolute `HOME`, the home folder comes from the password database. A user without either gets a
    /// folder that cannot exist, so that every use fails. The current folder is no alternative, because other users
    /// might find the tokens there.
    /// - Parameter database: Looks up the home folder in the password database.
    package static func stateFolder(
        of service: String, environment: [String: String] = ProcessInfo.processInfo.environment,
        database: () -> String? = System.homeFolder
    ) -> String {
        func home() -> String {
            if let home = environment["HOME"], home.hasPrefix("/") { return home }
            if let home = database(), home.hasPrefix("/") { return home }
            return noHome
        }
        // Another program's folder, or the folder of all programs.
        if ["", ".", ".."].contains(service) { return noService }
        return stateFolder(environment: environment, home: home()) + "/" + service.replacing("/", with: "-")
    }

    /// `/dev/null` is not a folder on any system, not even for root.
    private static let noHome = "/dev/null/no-home-folder"
    private static let noService = "/dev/null/no-service"

    /// Whether a path is in the folder of a user without a home folder, or of a program without a name.
    package static func isNowhere(_ path: String) -> Bool { path.hasPrefix(noHome) || path.hasPrefix(noService) }

    /// The reason why the last call about a path failed, from `errno`.
    package static func reason(at path: String) -> String {
        let number = errno
        if path.hasPrefix(noService) {
            return "the service is empty, \".\" or \"..\". Name the program, for example by its bundle identifier"
        }
        if isNowhere(path) { return "this user has no home folder. Set HOME, or name the path yourself" }
        if number == ENOTSUP || number == EOPNOTSUPP {
            return "the file system lacks locks, or has neither exclusive renames nor hard links. Use a local disk"
        }
        let reason = String(cString: strerror(number))
        return switch number {
        case EACCES, EPERM: reason + "; correct the owner or the permissions of the file and its folder"
        case ENOSPC, EDQUOT: reason + "; free some space"
        case EROFS: reason + "; use another disk, or make this one writable"
        default: reason
        }
    }

    /// Distinguishes a file from its predecessors and successors of the same name, and from its own earlier contents.
    struct Version: Sendable, Hashable {
        /// Unsigned, because FUSE and some network shares use all 64 bits.
        let inode: UInt64
        let changedAt: [Int]

        init(_ status: stat) {
            inode = UInt64(status.st_ino)
            changedAt = [status.modificationTime, status.modificationNanoseconds]
        }
    }

    /// Whether there is something at a path. A link to a missing file counts as nothing.
    package static func exists(_ path: String) -> Bool {
        System.access(path, F_OK) == 0
    }

    /// Checks that a new file may take a path: there must be nothing, a regular file or a link. A rename would replace
    /// a pipe or a device, and replaces a link instead of its target.
    package static func checkReplaceable(_ path: String) throws(FileError) {
        var status = stat()
        guard System.lstat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFLNK: return
        case S_IFDIR: throw FileError(.directory, path: path)
        default: throw FileError(.special, path: path)
        }
    }

    /// A folder that cannot be listed.
    package struct Unreadable: Error, CustomStringConvertible {
        fileprivate let reason = errno

        /// Whether the folder does not exist.
        var isMissing: Bool { reason == ENOENT || reason == ENOTDIR }
        var isOutOfResources: Bool { Disk.isOutOfResources(reason) }
        package var description: String { String(cString: strerror(reason)) }
    }

    /// Whether an error says that the process or the system has too many files open, or too little memory.
    package static func isOutOfResources(_ code: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }

    /// Calls the closure with the name of each file in a folder, in any order.
    /// - Throws: ``Unreadable``.
    package static func forEachName(in folder: String, _ body: (String) -> Void) throws(Unreadable) {
        BlockingCalls.check("readdir")
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
