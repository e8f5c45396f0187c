package import MartletLibc

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A file that is written in pieces, and appears under its name when it is complete.
///
/// On Linux the file has no name until then (`O_TMPFILE`), so a killed process leaves nothing behind. To replace
/// another file, it is first linked to a hidden temporary name, and then renamed. On file systems without `O_TMPFILE`
/// it has a hidden name from the start, which `deinit` removes. The next download to the same destination removes the
/// leftovers of a killed process. All calls block.
package final class IncomingFile: Sendable {
    package let descriptor: Int32
    package let destination: Destination
    /// The temporary path; `nil` if the file has none.
    private let name: Locked<String?>

    /// The path of the complete file, and the hidden paths beside it.
    package struct Destination: Sendable {
        package let path: String
        package let folder: String
        /// The prefix of the hidden names. It does not contain the file's own name, which could make them too long.
        package let hiddenName: String

        private init(_ path: String, folder: String, hiddenName: String) {
            self.path = path
            self.folder = folder
            self.hiddenName = hiddenName
        }

        package init(_ path: String) {
            self.path = path
            guard let slash = path.lastIndex(of: "/") else {
                self.folder = "."
                self.hiddenName = Self.hiddenName(for: path)
                return
            }
            self.folder = slash == path.startIndex ? "/" : String(path[..<slash])
            self.hiddenName = Self.hiddenName(for: String(path[path.index(after: slash)...]))
        }

        /// The incomplete file of a download that can be resumed.
        package var partial: String { "\(folder)/\(hiddenName)" }
        /// The file with the resume data of ``partial``.
        package var resumeData: String { "\(folder)/\(hiddenName).json" }
        /// The destination of the resume data. Its leftovers are removed together with those of the download.
        package var ofResumeData: Destination { Destination(resumeData, folder: folder, hiddenName: hiddenName) }

        fileprivate func newTemporary() -> String {
            "\(folder)/\(hiddenName).\(String(UInt64.random(in: 0 ... .max), radix: 16)).tmp"
        }

        private static func hiddenName(for name: String) -> String {
            ".martlet-download-\(String(name.fingerprint, radix: 16))"
        }

        fileprivate func check() throws(FileError) {
            guard !path.utf8.contains(0), !path.isEmpty else { throw FileError(.noName, path: path) }
            guard !path.hasSuffix("/") else { throw FileError(.directory, path: path) }
            try Disk.checkReplaceable(path)
        }
    }

    /// - Parameters:
    ///   - descriptor: The open file. It is closed with the last reference to this object.
    ///   - name: The temporary path; `nil` if the file has none.
    package init(_ descriptor: Int32, _ destination: Destination, name: String?) {
        self.descriptor = descriptor
        self.destination = destination
        self.name = Locked(name)
    }

    deinit {
        BlockingQueue.startUnlessHere { [descriptor, name] in
            Self.remove(name)
            System.close(descriptor)
        }
    }

    /// Creates an empty file for a destination.
    /// - Parameters:
    ///   - mode: The permissions, from which the system removes those in the process's umask.
    ///   - leftoversAreRemoved: Whether leftovers have already been removed. If not, this call removes them.
    ///   - allowsAnonymous: Whether the file may be created without a name.
    ///   - claim: Locks the file.
    package static func make(
        for destination: Destination, mode: mode_t = 0o666, leftoversAreRemoved: Bool = false,
        allowsAnonymous: Bool = true, claim: (Int32) -> StaleFiles.Claim = StaleFiles.claim
    ) throws(FileError) -> IncomingFile {
        try destination.check()
        if !leftoversAreRemoved { removeLeftovers(of: destination) }
        if allowsAnonymous, let anonymous = AnonymousFile.make(in: destination.folder, mode: mode) {
            // Without a lock, the file would count as stale while it has its hidden name.
            _ = claim(anonymous)
            return IncomingFile(anonymous, destination, name: nil)
        }
        guard let new = StaleFiles.makeFile(mode: mode, claim: claim, named: destination.newTemporary) else {
            throw failure(destination)
        }
        return IncomingFile(new.descriptor, destination, name: new.path)
    }

    /// The incomplete file of a download that can be resumed; empty for a new download. No other user can read or write
    /// it until it is published.
    /// - Parameters:
    ///   - user: The user that the file must belong to.
    ///   - leftoversAreRemoved: Whether leftovers have already been removed. If not, this call removes them.
    ///   - claim: Locks the file.
    /// - Returns: `nil` if another download uses the file, if the name is taken by something that does not belong to
    ///   the user, or if the file system has no locks.
    package static func keptPartial(
        for destination: Destination, of user: uid_t = geteuid(), leftoversAreRemoved: Bool = false,
        claim: (Int32) -> StaleFiles.Claim = StaleFiles.claim
    ) throws(FileError) -> IncomingFile? {
        try destination.check()
        if !leftoversAreRemoved { removeLeftovers(of: destination, by: user) }
        let path = destination.partial
        // Another download may move the file to its destination between the opening and the locking.
        for _ in 0..<attempts {
            guard let descriptor = try openPartial(of: destination) else { return nil }
            let file = IncomingFile(descriptor, destination, name: nil)
            let trust = file.trust(of: user)
            guard trust != .foreign else { return nil }
            switch claim(file.descriptor) {
            case .held where !file.isStill(path): continue
            // Start a new file, because other users may have this one open.
            case .held where trust == .shared || !file.makePrivate(): System.unlink(path)
            case .held: return file
            case .heldElsewhere: return nil
            case .impossible:
                // Without a lock, two downloads could write into the file and corrupt it.
                if trust == .own, try file.size() == 0 { System.unlink(path) }
                return nil
            }
        }
        return nil
    }

    /// Whether an incomplete file can be continued.
    private enum Trust {
        /// The file belongs to the user, and no other user can write it.
        case own
        /// The file belongs to the user, but others may have written it, or it is also linked to another name, whose
        /// content must not be overwritten.
        case shared
        /// The file belongs to another user, or is not a regular file.
        case foreign
    }

    private func trust(of user: uid_t) -> Trust {
        var status = stat()
        guard System.fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == user else {
            return .foreign
        }
        return status.st_mode & 0o022 == 0 && status.st_nlink <= 1 ? .own : .shared
    }

    /// Makes the file private again. A process that was killed while it published the file left it readable.
    private func makePrivate() -> Bool {
        mode == Self.privateMode || System.fchmod(descriptor, Self.privateMode) == 0
    }

    /// Removes the files that killed processes left behind from a user's downloads to a destination.
    package static func removeLeftovers(of destination: Destination, by user: uid_t = geteuid()) {
        let prefix = "\(destination.hiddenName)."
        StaleFiles.remove(from: destination.folder, of: user) { $0.hasPrefix(prefix) && $0.hasSuffix(".tmp") }
    }

    /// The current size, in bytes.
    package func size() throws(FileError) -> Int64 {
        var status = stat()
        guard System.fstat(descriptor, &status) == 0 else { throw failure() }
        return Int64(status.st_size)
    }

    /// Writes a piece at a position.
    package func write(_ bytes: Data, at position: Int64) throws(FileError) {
        guard bytes.write(to: descriptor, at: position) else { throw failure() }
    }

    /// Reads a piece at a position; less than requested at the end of the file.
    package func read(upTo count: Int, from position: Int64) throws(FileError) -> Data {
        var bytes = Data(count: count)
        while true {
            let got = bytes.withUnsafeMutableBytes {
                System.pread(descriptor, $0.baseAddress, $0.count, off_t(position))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure() }
            return bytes.prefix(got)
        }
    }

    /// Sets the size of the file.
    package func truncate(to size: Int64) throws(FileError) {
        // Do not truncate needlessly: after a truncation to zero, even of an empty file, ext4 flushes the file when it
        // is closed, which takes 0.7 s for a gigabyte.
        guard try self.size() != size else { return }
        guard System.ftruncate(descriptor, off_t(size)) == 0 else { throw failure() }
    }

    /// Moves the complete file to its destination, atomically.
    /// - Parameter replaces: Whether it may replace an existing file.
    package func publish(replacing replaces: Bool) throws(FileError) {
        if let temporary = hiddenPath {
            let isPartial = name.withLock { $0 == nil }
            if isPartial { System.fchmod(descriptor, modeOfNewFile()) }
            do throws(FileError) {
                try move(temporary, replacing: replaces)
            } catch {
                if isPartial { System.fchmod(descriptor, Self.privateMode) }
                throw error
            }
            name.withLock { $0 = nil }
            return
        }
        do throws(FileError) {
            if try giveName(destination.path) { return }
        } catch  where error.kind == .unsupported {
            return try namedCopy().publish(replacing: replaces)
        }
        guard replaces else { throw FileError(.exists, path: destination.path) }
        // A link cannot replace a file, so link to a temporary path first, and rename that.
        let temporary = destination.newTemporary()
        guard try giveName(temporary) else { throw FileError(.exists, path: temporary) }
        do throws(FileError) {
            try move(temporary, replacing: true)
        } catch {
            System.unlink(temporary)
            throw error
        }
    }

    /// Removes the temporary path, if there is one. Anything written later is lost.
    package func abandon() {
        Self.remove(name)
    }

    // MARK: -

    private static func remove(_ name: Locked<String?>) {
        let path = name.withLock { name in
            defer { name = nil }
            return name
        }
        if let path { System.unlink(path) }
    }

    /// The number of attempts to open the incomplete file, which another download may move away each time.
    private static let attempts = 16

    private static let privateMode: mode_t = 0o600

    /// Opens the incomplete file, or creates it.
    /// - Returns: `nil` if the name is taken by something that cannot be opened, such as a link or another user's file.
    private static func openPartial(of destination: Destination) throws(FileError) -> Int32? {
        let path = destination.partial
        for _ in 0..<attempts {
            let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW
            let existing = System.open(path, flags | O_NONBLOCK)
            if existing >= 0 { return existing }
            if errno == ENOENT {
                let new = System.open(path, flags | O_CREAT | O_EXCL, privateMode)
                if new >= 0 {
                    // The umask may have removed the owner's permissions.
                    System.fchmod(new, privateMode)
                    return new
                }
                if errno == EEXIST { continue }
            }
            let number = errno
            if number == EINTR { continue }
            var status = stat()
            if System.lstat(path, &status) == 0 { return nil }
            errno = number
            throw failure(destination)
        }
        return nil
    }

    /// The permissions that a new file in the folder gets. The umask cannot be read without changing it for other
    /// threads.
    private func modeOfNewFile() -> mode_t {
        guard let new = try? Self.make(for: destination, leftoversAreRemoved: true) else { return Self.privateMode }
        defer { new.abandon() }
        return new.mode
    }

    private var mode: mode_t {
        var status = stat()
        return System.fstat(descriptor, &status) == 0 ? status.st_mode & 0o777 : Self.privateMode
    }

    /// - Returns: `false` if a file with this name exists.
    private func giveName(_ path: String) throws(FileError) -> Bool {
        guard !AnonymousFile.giveName(path, to: descriptor) else { return true }
        guard errno == EEXIST else { throw failure() }
        return false
    }

    /// A copy with a hidden name, on a file system that cannot name an anonymous file.
    private func namedCopy() throws(FileError) -> IncomingFile {
        let copy = try Self.make(for: destination, mode: mode, leftoversAreRemoved: true, allowsAnonymous: false)
        var position: Int64 = 0
        while true {
            let piece = try read(upTo: FileChunks.standardChunkSize, from: position)
            guard !piece.isEmpty else { return copy }
            try copy.write(piece, at: position)
            position += Int64(piece.count)
        }
    }

    private func move(_ temporary: String, replacing replaces: Bool) throws(FileError) {
        let path = destination.path
        let isMoved = replaces ? System.rename(temporary, path) == 0 : Disk.move(temporary, toUnused: path)
        guard isMoved else { throw failure() }
    }

    /// The path of the file until it is complete; `nil` if it has none.
    package var hiddenPath: String? {
        name.withLock { $0 } ?? (isStill(destination.partial) ? destination.partial : nil)
    }

    package func isStill(_ path: String) -> Bool { StaleFiles.isName(path, of: descriptor) }

    private func failure() -> FileError { Self.failure(destination) }

    private static func failure(_ destination: Destination) -> FileError {
        FileError(writing: destination.path, in: destination.folder, errno: errno)
    }
}
