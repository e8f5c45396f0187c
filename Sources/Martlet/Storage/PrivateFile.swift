#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif
#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A small file that only its owner may read, replaced as a whole. Every call blocks.
struct PrivateFile {
    let path: String
    var steps = FileSteps.untold

    /// A record is far smaller, a value of a megabyte with what sealing adds to it is not larger; whatever is, is
    /// neither.
    private static let largest = 1 << 20 + 1 << 10

    /// Whom a file may belong to, and who else may read it.
    enum Trust {
        /// It is the user's, and nobody else can do anything with it.
        case user
        /// As with systemd's credentials: it may also be root's, who lets a group or, by an access control list, whose
        /// mask looks like a group's permissions, a user read it (`write_credential` in systemd's `exec-credential.c`).
        case userOrRoot

        /// What root has put there is not the user's to change.
        fileprivate func advice(_ path: String) -> String {
            self == .user ? " Run: chmod 600 \(path)" : ""
        }

        fileprivate func covers(_ status: stat) -> Bool {
            switch self {
            case .user: status.st_uid == geteuid() && status.st_mode & 0o077 == 0
            case .userOrRoot: [geteuid(), 0].contains(status.st_uid) && status.st_mode & 0o037 == 0
            }
        }
    }

    /// The folder it is in, and its name there.
    var place: (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.index(after: slash)...]))
    }

    private var folder: String { place.folder }

    /// Whether there is a folder that the file could be in.
    var hasFolder: Bool { access(folder, F_OK) == 0 || errno != ENOENT }

    /// The bytes, or `nil` where there is no file.
    func read(_ trust: Trust = .user) throws(StorageFailure) -> Data? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageFailure(.corrupt, "\(path) is not a regular file")
        }
        guard trust.covers(status) else {
            throw StorageFailure(
                .unsafePermissions,
                "\(path) belongs to another user or can be read by others, so it is not trusted.\(trust.advice(path))")
        }
        guard status.st_size <= Self.largest else {
            throw StorageFailure(.corrupt, "\(path) has \(status.st_size) bytes, too many to be one of Martlet's")
        }
        var bytes = Data(count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, off_t(count))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure("read") }
            guard got > 0 else { break }
            count += got
        }
        return bytes.prefix(count)
    }

    /// Makes the file with these bytes unless there is one; whoever sees it sees all of it.
    /// - Returns: Whether there was none.
    func create(with bytes: Data) throws(StorageFailure) -> Bool {
        let temporary = try makeTemporary(with: bytes)
        defer { unlink(temporary) }
        guard link(temporary, path) == 0 else {
            guard errno == EEXIST else { throw failure("write") }
            // Whoever was faster may not have come to that, and what is done with the file must not outlive it.
            try flushFolder()
            return false
        }
        try flushFolder()
        return true
    }

    /// Puts the bytes in the file's place; once this returns they survive a crash.
    /// - Parameter isAllowed: Asked at the last moment. If not, nothing has changed.
    /// - Returns: Whether it was allowed.
    func replace(with bytes: Data, if isAllowed: () -> Bool) throws(StorageFailure) -> Bool {
        guard bytes.count <= Self.largest else {
            throw StorageFailure(.unreachable, "\(bytes.count) bytes are too many for \(path)")
        }
        let temporary = try makeTemporary(with: bytes)
        guard isAllowed() else {
            unlink(temporary)
            return false
        }
        guard rename(temporary, path) == 0 else {
            let error = failure("write")
            unlink(temporary)
            throw error
        }
        steps.reached(.renamed)
        try flushFolder()
        steps.reached(.folderFlushed)
        return true
    }

    /// Deletes the file; does nothing where there is none.
    /// - Parameter isAllowed: Asked at the last moment. If not, nothing has changed.
    /// - Returns: Whether it was allowed.
    func delete(if isAllowed: () -> Bool) throws(StorageFailure) -> Bool {
        guard isAllowed() else { return false }
        guard unlink(path) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return true }
            throw failure("delete")
        }
        steps.reached(.unlinked)
        try flushFolder()
        steps.reached(.folderFlushed)
        return true
    }

    /// Makes the folder, and those above it, for the user alone.
    func makeFolder() throws(StorageFailure) {
        try Self.makeFolder(folder, for: path)
    }

    /// Removes what writers left behind that were killed midway. They hold tokens, old ones, but still.
    /// - Parameter age: In seconds. Zero is for those who know that nobody else is writing now.
    func removeLeftovers(olderThan age: Int) {
        var names: [String] = []
        try? Disk.forEachName(in: folder) { names.append($0) }
        Self.removeLeftovers(names.filter { Self.file(ofTemporary: $0) == place.name }, in: folder, olderThan: age)
    }

    /// Removes what writers of any file left behind, of these names in a folder.
    static func removeLeftovers(_ names: [String], in folder: String, olderThan age: Int) {
        let now = time(nil)
        for name in names where file(ofTemporary: name) != nil {
            var status = stat()
            let leftover = "\(folder)/\(name)"
            guard lstat(leftover, &status) == 0 else { continue }
            if now - status.modificationTime >= age { unlink(leftover) }
        }
    }

    /// A file beside this one, with its bytes on the disk.
    private func makeTemporary(with bytes: Data) throws(StorageFailure) -> String {
        let temporary = newTemporary()
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("write") }
        steps.reached(.temporaryMade)
        do throws(StorageFailure) {
            defer { close(descriptor) }
            // The umask can only take permissions away, but it may take the owner's.
            guard fchmod(descriptor, 0o600) == 0 else { throw failure("write") }
            try write(bytes, to: descriptor)
            steps.reached(.written)
            guard Disk.flush(descriptor) else { throw failure("write") }
            steps.reached(.flushed)
        } catch {
            unlink(temporary)
            throw error
        }
        return temporary
    }

    /// A name beside the file that nobody else has.
    func newTemporary() -> String {
        let (folder, name) = place
        return "\(folder)/.\(name).\(getpid()).\(UInt64.random(in: 0 ... .max)).tmp"
    }

    /// The name of the file that a temporary one was to become; `nil` where a name is not that of a temporary one.
    private static func file(ofTemporary name: String) -> String? {
        guard name.hasPrefix("."), name.hasSuffix(".tmp") else { return nil }
        let parts = name.dropFirst().dropLast(4).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 2, parts.suffix(2).allSatisfy({ UInt64($0) != nil }) else { return nil }
        return parts.dropLast(2).joined(separator: ".")
    }

    private static func makeFolder(_ folder: String, for path: String) throws(StorageFailure) {
        if make(folder) { return }
        guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else {
            throw PrivateFile(path: path).failure("make the folder of")
        }
        try makeFolder(String(folder[..<slash]), for: path)
        guard make(folder) else { throw PrivateFile(path: path).failure("make the folder of") }
    }

    /// Makes one folder; its name in the one above has to survive a crash too, where the system can see to that.
    private static func make(_ folder: String) -> Bool {
        guard mkdir(folder, 0o700) == 0 else { return errno == EEXIST }
        try? PrivateFile(path: folder).flushFolder()
        return true
    }

    private func write(_ bytes: Data, to descriptor: Int32) throws(StorageFailure) {
        var count = 0
        while count < bytes.count {
            let put = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count, off_t(count))
            }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { throw failure("write") }
            count += put
        }
    }

    /// Without this the rename itself could be lost in a crash.
    private func flushFolder() throws(StorageFailure) {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor >= 0 else { throw failure("write") }
        defer { close(descriptor) }
        guard Disk.flush(descriptor) else { throw failure("write") }
    }

    private func failure(_ what: String) -> StorageFailure {
        let number = errno
        return StorageFailure(.unreachable, "could not \(what) \(path): \(String(cString: strerror(number)))")
    }
}
