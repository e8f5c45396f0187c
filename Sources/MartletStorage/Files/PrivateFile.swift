internal import MartletLibc

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A small file that only its user can read, and that is replaced as a whole. Every call blocks.
package struct PrivateFile: Sendable {
    package let path: String
    package var steps = FileSteps.unobserved
    package var protectionClass = DataProtection.Class.afterFirstUnlock

    /// The size limit of a file, in bytes: the largest value of a storage, plus what sealing adds.
    private static let largest = 1 << 20 + 1 << 10

    package init(
        path: String, steps: FileSteps = .unobserved,
        protectionClass: DataProtection.Class = .afterFirstUnlock
    ) {
        self.path = path
        self.steps = steps
        self.protectionClass = protectionClass
    }

    /// The owner and the permissions that a file must have.
    package enum Trust {
        /// The file belongs to the user, and others have no access.
        case user
        /// The file may also belong to root and be readable by a group, as systemd's credentials are. An access control
        /// list, which systemd uses, shows as the group's permissions (`write_credential` in its `exec-credential.c`).
        case userOrRoot
        /// The file may also belong to root, and all users may read it, as in a container with one user.
        case unchangeable
        /// Any file. Used only to tell whether another program has written it.
        case none

        /// The reason why a file is not trusted and, if the user may change the file, how to fix it.
        fileprivate func fault(of path: String) -> String {
            switch self {
            case .user: "others can read it, so it is not trusted; chmod 600 \(path) makes your own file private"
            case .userOrRoot: "others can read it, so it is not trusted"
            case .unchangeable: "others can change it, so it is not trusted. Mount it with the mode 0444 or 0400"
            case .none: ""
            }
        }

        fileprivate func covers(_ status: stat) -> Bool {
            switch self {
            case .user: status.st_uid == geteuid() && status.st_mode & 0o077 == 0
            case .userOrRoot: [geteuid(), 0].contains(status.st_uid) && status.st_mode & 0o037 == 0
            case .unchangeable: [geteuid(), 0].contains(status.st_uid) && status.st_mode & 0o022 == 0
            case .none: true
            }
        }
    }

    /// The folder of the file, and its name there.
    package var location: (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.index(after: slash)...]))
    }

    private var folder: String { location.folder }

    /// Whether the folder of the file exists.
    package var hasFolder: Bool { System.access(folder, F_OK) == 0 || errno != ENOENT }

    /// Reads the file.
    /// - Returns: `nil` if there is no file.
    package func read(_ trust: Trust = .user) throws(StorageError) -> Data? {
        try checkPath()
        let descriptor = System.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP, isSymbolicLink {
                throw StorageError(.foreign, "\(path) is a symbolic link; use the path of the file that it leads to")
            }
            throw failure("read")
        }
        defer { System.close(descriptor) }
        var status = stat()
        guard System.fstat(descriptor, &status) == 0 else { throw failure("read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.foreign, "\(path) is not a regular file; move it away or choose another path")
        }
        guard status.st_size <= Self.largest else {
            throw StorageError(
                .foreign, "\(path) has \(status.st_size) bytes, more than Martlet writes; move it away")
        }
        guard trust.covers(status) else {
            throw StorageError(
                .unsafePermissions, "\(path) belongs to another user or \(trust.fault(of: path))")
        }
        var bytes = Data(count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                System.pread(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, off_t(count))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure("read") }
            guard got > 0 else { break }
            count += got
        }
        return bytes.prefix(count)
    }

    private var isSymbolicLink: Bool {
        var status = stat()
        return System.lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Creates the file, with all its bytes at once, unless it exists.
    /// - Returns: Whether it was created.
    package func create(with bytes: Data) throws(StorageError) -> Bool {
        let temporary = try makeTemporary(with: bytes)
        defer { System.unlink(temporary) }
        guard Disk.move(temporary, toUnused: path) else {
            guard errno == EEXIST else { throw failure("write") }
            // The process that won the race may not have flushed the folder yet. Flush it before files are sealed with
            // the key in this file, because they are useless without it.
            try flushFolder()
            return false
        }
        try flushFolder()
        return true
    }

    /// Replaces the file, and returns when the new bytes would survive a crash.
    /// - Parameter isAllowed: Called right before the change.
    /// - Returns: The result of `isAllowed`. If `false`, nothing has changed.
    package func replace(with bytes: Data, if isAllowed: () -> Bool) throws(StorageError) -> Bool {
        guard bytes.count <= Self.largest else {
            throw StorageError(
                .unreachable, "could not write \(path): \(bytes.count) bytes are too many; \(Self.largest) are allowed")
        }
        var mayHaveLostTemporary = true
        while true {
            let temporary = try makeTemporary(with: bytes)
            guard isAllowed() else {
                System.unlink(temporary)
                return false
            }
            if System.rename(temporary, path) == 0 { break }
            let isMissing = errno == ENOENT
            let error = failure("write")
            System.unlink(temporary)
            // A process that deletes the file at this moment also removes its temporary files.
            guard isMissing, mayHaveLostTemporary else { throw error }
            mayHaveLostTemporary = false
        }
        steps.reached(.renamed)
        try flushFolder()
        steps.reached(.folderFlushed)
        return true
    }

    /// Deletes the file. Does nothing if there is none.
    /// - Parameter isAllowed: Called right before the change.
    /// - Returns: The result of `isAllowed`. If `false`, nothing has changed.
    package func delete(if isAllowed: () -> Bool) throws(StorageError) -> Bool {
        try checkPath()
        guard isAllowed() else { return false }
        guard System.unlink(path) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return true }
            throw failure("delete")
        }
        steps.reached(.unlinked)
        try flushFolder()
        steps.reached(.folderFlushed)
        return true
    }

    /// Creates the folder and its parents, accessible to the user alone.
    package func makeFolder() throws(StorageError) {
        try checkPath()
        try makeFolder(folder)
    }

    /// The first bytes of each sealed file.
    package static let sealedMagic = Array("MARTLET\0".utf8)

    /// Whether there is a sealed file, even one that other users can read.
    package var isSealed: Bool {
        let descriptor = System.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { System.close(descriptor) }
        var found = [UInt8](repeating: 0, count: Self.sealedMagic.count)
        return System.pread(descriptor, &found, found.count, 0) == found.count && found == Self.sealedMagic
    }

    /// Refuses a NUL, at which the system would end the path, and `~/`, which only a shell replaces. In a path, `~` is
    /// the name of a folder.
    func checkPath() throws(StorageError) {
        guard !path.utf8.contains(0) else {
            throw StorageError(.unreachable, "a path cannot contain the character NUL")
        }
        guard path.hasPrefix("~/") else { return }
        throw StorageError(
            .unreachable,
            "\(path) begins with ~/, which only a shell replaces; pass the whole path, such as NSHomeDirectory() + \"/…\""
        )
    }

    /// Removes the temporary files of killed processes, which may contain tokens.
    /// - Parameters:
    ///   - age: The minimum age, in seconds. Pass zero only if no other process can be writing now.
    ///   - other: Another file in the folder, whose temporary files are removed, too.
    package func removeLeftovers(olderThan age: Int, alsoOf other: PrivateFile? = nil) {
        var names: [String] = []
        try? Disk.forEachName(in: folder) { names.append($0) }
        let files = [location.name, other?.location.name].compactMap(\.self)
        let leftovers = names.filter { name in Self.file(ofTemporary: name).map(files.contains) ?? false }
        Self.removeLeftovers(leftovers, in: folder, olderThan: age)
    }

    /// Removes those of the named files in a folder that are temporary files of killed processes.
    package static func removeLeftovers(_ names: [String], in folder: String, olderThan age: Int) {
        let now = time(nil)
        for name in names where file(ofTemporary: name) != nil {
            var status = stat()
            let leftover = "\(folder)/\(name)"
            guard System.lstat(leftover, &status) == 0 else { continue }
            if now - status.modificationTime >= age { System.unlink(leftover) }
        }
    }

    /// Creates a temporary file beside this one and flushes its bytes to the disk.
    private func makeTemporary(with bytes: Data) throws(StorageError) -> String {
        try checkPath()
        let temporary = newTemporary()
        let descriptor = System.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("write") }
        steps.reached(.temporaryMade)
        // Protect the file while it is empty, so that no token is ever in a file of another class.
        steps.protection?.protect(temporary, protectionClass)
        do throws(StorageError) {
            defer { System.close(descriptor) }
            // The umask may have removed the owner's permissions.
            guard System.fchmod(descriptor, 0o600) == 0 else { throw failure("write") }
            try write(bytes, to: descriptor)
            steps.reached(.written)
            guard steps.flush(descriptor) else { throw failure("write") }
            steps.reached(.flushed)
        } catch {
            System.unlink(temporary)
            throw error
        }
        return temporary
    }

    /// A unique path beside the file.
    package func newTemporary() -> String {
        let (folder, name) = location
        return "\(folder)/.\(name).\(getpid()).\(UInt64.random(in: 0 ... .max)).tmp"
    }

    /// The name of the file that a temporary file would have replaced; `nil` if it is not a temporary file.
    private static func file(ofTemporary name: String) -> String? {
        guard name.hasPrefix("."), name.hasSuffix(".tmp") else { return nil }
        let parts = name.dropFirst().dropLast(4).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 2, parts.suffix(2).allSatisfy({ UInt64($0) != nil }) else { return nil }
        return parts.dropLast(2).joined(separator: ".")
    }

    private func makeFolder(_ folder: String) throws(StorageError) {
        if make(folder) { return }
        guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else {
            throw failure("create the folder of")
        }
        try makeFolder(String(folder[..<slash]))
        guard make(folder) else { throw failure("create the folder of") }
    }

    /// Creates one folder, and flushes its parent if the system allows it.
    private func make(_ folder: String) -> Bool {
        guard System.mkdir(folder, 0o700) == 0 else { return errno == EEXIST }
        // Never use the class of locks here: the folder may contain records, too.
        steps.protection?.protect(folder, .afterFirstUnlock)
        try? PrivateFile(path: folder).flushFolder()
        return true
    }

    private func write(_ bytes: Data, to descriptor: Int32) throws(StorageError) {
        var count = 0
        while count < bytes.count {
            let put = bytes.withUnsafeBytes {
                System.pwrite(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count, off_t(count))
            }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { throw failure("write") }
            count += put
        }
    }

    /// Flushes the folder to the disk. Without this, a crash could undo the rename.
    private func flushFolder() throws(StorageError) {
        let descriptor = System.open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw failure("write") }
        defer { System.close(descriptor) }
        guard steps.flush(descriptor) else { throw failure("write") }
    }

    private func failure(_ what: String) -> StorageError {
        StorageError(couldNot: what, path, steps.protection)
    }
}
