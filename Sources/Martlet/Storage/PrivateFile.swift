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

    /// A record is far smaller; whatever is larger is not one.
    private static let largest = 1 << 20

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
    func read() throws(StorageFailure) -> Data? {
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
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw StorageFailure(
                .unsafePermissions,
                "\(path) belongs to another user or can be read by others, so it is not trusted. Run: chmod 600 \(path)"
            )
        }
        guard status.st_size <= Self.largest else {
            throw StorageFailure(.corrupt, "\(path) has \(status.st_size) bytes, too many for a session")
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

    /// Puts the bytes in the file's place; once this returns they survive a crash.
    /// - Parameter isAllowed: Asked at the last moment. If not, nothing has changed.
    /// - Returns: Whether it was allowed.
    func replace(with bytes: Data, if isAllowed: () -> Bool) throws(StorageFailure) -> Bool {
        let temporary = try writeTemporary(bytes)
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

    /// Makes the file, and its folder, unless there is one, of which nothing is changed.
    func create(with bytes: Data) throws(StorageFailure) {
        try makeFolder()
        let temporary = try writeTemporary(bytes)
        defer { unlink(temporary) }
        // Unlike a rename, of several who do this at once only one succeeds.
        guard link(temporary, path) == 0 || errno == EEXIST else { throw failure("write") }
        try flushFolder()
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
        let folder = folder
        let now = time(nil)
        try? Disk.forEachName(in: folder) { found in
            guard isTemporary(found) else { return }
            var status = stat()
            let leftover = "\(folder)/\(found)"
            guard lstat(leftover, &status) == 0 else { return }
            if now - status.modificationTime >= age { unlink(leftover) }
        }
    }

    /// A name beside the file that nobody else has.
    func newTemporary() -> String {
        let (folder, name) = place
        return "\(folder)/.\(name).\(getpid()).\(UInt64.random(in: 0 ... .max)).tmp"
    }

    /// Whether a name is one of this file's own temporary ones, and not one of a file whose name begins with its own.
    private func isTemporary(_ found: String) -> Bool {
        let start = ".\(place.name)."
        guard found.hasPrefix(start), found.hasSuffix(".tmp") else { return false }
        let numbers = found.dropFirst(start.count).dropLast(4).split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 2 && numbers.allSatisfy { UInt64($0) != nil }
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

    /// Writes the bytes to a file beside this one, where they survive a crash.
    /// - Returns: Its path.
    private func writeTemporary(_ bytes: Data) throws(StorageFailure) -> String {
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
