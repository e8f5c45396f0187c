internal import MartletLibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A file that is written in pieces, and appears under its name when it is complete.
///
/// On Linux the file has no name until then (`O_TMPFILE`), so a killed process leaves nothing behind. To replace another
/// file, it is first linked to a hidden temporary name, which is then renamed. On file systems without `O_TMPFILE` it has
/// that name from the start, and `deinit` removes it. The next download to the same destination removes what a killed
/// process left. All calls block.
final class IncomingFile: Sendable {
    let descriptor: Int32
    let destination: Destination
    /// The temporary path; `nil` if the file has none.
    private let name: Locked<String?>

    /// The path of the complete file, and the hidden paths beside it.
    struct Destination: Sendable {
        let path: String
        let folder: String
        /// The prefix of the hidden names. It does not contain the file's own name, which could make them too long.
        let hiddenName: String

        private init(_ path: String, folder: String, hiddenName: String) {
            self.path = path
            self.folder = folder
            self.hiddenName = hiddenName
        }

        init(_ path: String) {
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
        var partial: String { "\(folder)/\(hiddenName)" }
        /// The file with the resume data of ``partial``.
        var resumeData: String { "\(folder)/\(hiddenName).json" }
        /// The destination of the resume data. Its leftovers are removed together with those of the download.
        var ofResumeData: Destination { Destination(resumeData, folder: folder, hiddenName: hiddenName) }

        fileprivate func newTemporary() -> String {
            "\(folder)/\(hiddenName).\(String(UInt64.random(in: 0 ... .max), radix: 16)).tmp"
        }

        private static func hiddenName(for name: String) -> String {
            ".martlet-download-\(String(name.fingerprint, radix: 16))"
        }

        fileprivate func check() throws(FileError) {
            guard !path.utf8.contains(0), !path.hasSuffix("/"), !path.isEmpty else {
                throw FileError(.missing, path: path)
            }
        }
    }

    /// - Parameters:
    ///   - descriptor: The open file. It is closed with the last reference to this object.
    ///   - name: The temporary path; `nil` if the file has none.
    init(_ descriptor: Int32, _ destination: Destination, name: String?) {
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
    ///   - leftoversAreRemoved: Whether leftovers have been removed. If not, this call removes them.
    ///   - allowsAnonymous: Whether the file may be created without a name.
    ///   - claim: Locks the file.
    static func make(
        for destination: Destination, leftoversAreRemoved: Bool = false, allowsAnonymous: Bool = true,
        claim: (Int32) -> StaleFiles.Claim = StaleFiles.claim
    ) throws(FileError) -> IncomingFile {
        try destination.check()
        if !leftoversAreRemoved { removeLeftovers(of: destination) }
        if allowsAnonymous, let anonymous = AnonymousFile.make(in: destination.folder, mode: 0o666) {
            // Without a lock, the file would count as stale while it has its hidden name.
            _ = claim(anonymous)
            return IncomingFile(anonymous, destination, name: nil)
        }
        guard let new = StaleFiles.makeFile(mode: 0o666, claim: claim, named: destination.newTemporary) else {
            throw failure(destination)
        }
        return IncomingFile(new.descriptor, destination, name: new.path)
    }

    /// The incomplete file of a download to a destination, to resume it; empty for a new download.
    /// - Parameters:
    ///   - leftoversAreRemoved: Whether leftovers have been removed. If not, this call removes them.
    ///   - claim: Locks the file.
    /// - Returns: `nil` if another download uses the file, or the file system has no locks, so it cannot be known.
    static func keptPartial(
        for destination: Destination, leftoversAreRemoved: Bool = false,
        claim: (Int32) -> StaleFiles.Claim = StaleFiles.claim
    ) throws(FileError) -> IncomingFile? {
        try destination.check()
        if !leftoversAreRemoved { removeLeftovers(of: destination) }
        let path = destination.partial
        // Another download may move the file to its destination after it was opened and before it is locked.
        for _ in 0..<attempts {
            let file = IncomingFile(try openFile(path, O_RDWR | O_CREAT, for: destination), destination, name: nil)
            switch claim(file.descriptor) {
            case .held where file.isStill(path): return file
            case .held: continue
            case .heldElsewhere: return nil
            case .impossible:
                // Without a lock, two downloads could write into the file and corrupt it.
                if try file.size() == 0 { System.unlink(path) }
                return nil
            }
        }
        return nil
    }

    /// Removes what killed processes left of downloads to a destination.
    static func removeLeftovers(of destination: Destination) {
        let prefix = "\(destination.hiddenName)."
        StaleFiles.remove(from: destination.folder) { $0.hasPrefix(prefix) && $0.hasSuffix(".tmp") }
    }

    /// The current size, in bytes.
    func size() throws(FileError) -> Int64 {
        var status = stat()
        guard System.fstat(descriptor, &status) == 0 else { throw failure() }
        return Int64(status.st_size)
    }

    /// Writes a piece at a position.
    func write(_ bytes: Data, at position: Int64) throws(FileError) {
        guard bytes.write(to: descriptor, at: position) else { throw failure() }
    }

    /// Reads a piece at a position; less than requested at the end of the file.
    func read(upTo count: Int, from position: Int64) throws(FileError) -> Data {
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
    func truncate(to size: Int64) throws(FileError) {
        // Do not truncate needlessly. After a truncation to zero, even of an empty file, ext4 flushes the file when it
        // is closed, which takes 0.7 s for a gigabyte.
        guard try self.size() != size else { return }
        guard System.ftruncate(descriptor, off_t(size)) == 0 else { throw failure() }
    }

    /// Moves the complete file to its destination, atomically.
    /// - Parameter replaces: Whether it may replace an existing file.
    func publish(replacing replaces: Bool) throws(FileError) {
        if let temporary = hiddenPath {
            try move(temporary, replacing: replaces)
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

    /// Removes the temporary path, if there is one. Later writes go to a file without a name, and are lost.
    func abandon() {
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

    /// How often to open the incomplete file, because another download may move it away each time.
    private static let attempts = 16

    private static func openFile(
        _ path: String, _ flags: Int32, for destination: Destination
    ) throws(FileError) -> Int32 {
        while true {
            let descriptor = System.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o666)
            if descriptor >= 0 { return descriptor }
            guard errno == EINTR else { throw failure(destination) }
        }
    }

    /// - Returns: `false` if a file with this name exists.
    private func giveName(_ path: String) throws(FileError) -> Bool {
        guard !AnonymousFile.giveName(path, to: descriptor) else { return true }
        guard errno == EEXIST else { throw failure() }
        return false
    }

    /// A copy with a hidden name, on a file system that cannot name an anonymous file.
    private func namedCopy() throws(FileError) -> IncomingFile {
        let copy = try Self.make(for: destination, leftoversAreRemoved: true, allowsAnonymous: false)
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
    var hiddenPath: String? {
        name.withLock { $0 } ?? (isStill(destination.partial) ? destination.partial : nil)
    }

    func isStill(_ path: String) -> Bool { StaleFiles.isName(path, of: descriptor) }

    private func failure() -> FileError { Self.failure(destination) }

    private static func failure(_ destination: Destination) -> FileError {
        FileError(writing: destination.path, in: destination.folder, errno: errno)
    }
}
