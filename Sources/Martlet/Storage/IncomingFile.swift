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

/// A file that comes piece by piece, and stands under its name only once it is whole.
///
/// On Linux it has no name at all until then (`O_TMPFILE`), so that nothing is left of it however its process ends.
/// Where the file system has no such files it has a hidden name beside its place, which goes with the last reference;
/// what a killed process leaves there is cleared away by the next download to the same place. All calls block.
final class IncomingFile: Sendable {
    private let descriptor: Int32
    private let place: Place
    /// Its name for now; `nil` where it has none.
    private let name: Locked<String?>

    /// Where a file is to stand, and the hidden names beside it.
    struct Place: Sendable {
        let path: String
        let folder: String
        /// The beginning of the hidden names; not the file's own name, with which they could become too long.
        let hiddenName: String

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

        /// What is kept of a download that is to go on later, and what is known of it.
        var partial: String { "\(folder)/\(hiddenName)" }
        var notes: String { "\(folder)/\(hiddenName).json" }

        fileprivate func newTemporary() -> String {
            "\(folder)/\(hiddenName).\(String(UInt64.random(in: 0 ... .max), radix: 16)).tmp"
        }

        private static func hiddenName(for name: String) -> String {
            ".martlet-download-\(String(name.fingerprint, radix: 16))"
        }

        fileprivate func check() throws(FileProblem) {
            guard !path.utf8.contains(0), !path.hasSuffix("/"), !path.isEmpty else {
                throw FileProblem(.missing, path: path)
            }
        }
    }

    private init(_ descriptor: Int32, _ place: Place, name: String?) {
        self.descriptor = descriptor
        self.place = place
        self.name = Locked(name)
    }

    deinit {
        abandon()
        close(descriptor)
    }

    /// An empty file for a place.
    /// - Parameter allowsUnnamed: Whether it may go without a name where the system can do that.
    static func make(for place: Place, allowsUnnamed: Bool = true) throws(FileProblem) -> IncomingFile {
        try place.check()
        // What killed processes have left of downloads to the same place.
        Leftovers.remove(from: place.folder) { $0.hasPrefix("\(place.hiddenName).") && $0.hasSuffix(".tmp") }
        if allowsUnnamed, let unnamed = makeUnnamed(for: place) { return unnamed }
        let name = place.newTemporary()
        let file = IncomingFile(try openFile(name, O_RDWR | O_CREAT | O_EXCL, for: place), place, name: name)
        // Held as long as it is written to, so that nobody takes it for a leftover; as somebody may have before that.
        let isHeld = Leftovers.claim(file.descriptor) && file.isStill(name)
        return isHeld ? file : try make(for: place, allowsUnnamed: allowsUnnamed)
    }

    /// What is kept of a download to a place, to go on with; empty where there is nothing yet.
    /// - Returns: The file, or `nil` where somebody else is at it.
    static func keptPartial(for place: Place) throws(FileProblem) -> IncomingFile? {
        try place.check()
        let name = place.partial
        let file = IncomingFile(try openFile(name, O_RDWR | O_CREAT, for: place), place, name: nil)
        guard Leftovers.claim(file.descriptor) else { return nil }
        // Whoever had it before may have moved it to its place meanwhile.
        guard file.isStill(name) else { return try keptPartial(for: place) }
        return file
    }

    /// How many bytes it has.
    func size() throws(FileProblem) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw problem() }
        return Int64(status.st_size)
    }

    /// Writes a piece at a position.
    func write(_ bytes: Data, at position: Int64) throws(FileProblem) {
        var count = 0
        while count < bytes.count {
            let put = bytes.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress?.advanced(by: count), $0.count - count,
                    off_t(position) + off_t(count))
            }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { throw problem() }
            count += put
        }
    }

    /// Reads a piece from a position; less than asked for at the end.
    func read(upTo count: Int, from position: Int64) throws(FileProblem) -> Data {
        var bytes = Data(count: count)
        while true {
            let got = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(position)) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw problem() }
            return bytes.prefix(got)
        }
    }

    /// Cuts it off.
    func truncate(to size: Int64) throws(FileProblem) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw problem() }
    }

    /// Puts it into its place, whole, in one step.
    /// - Parameter replaces: Whether it may take the place of a file that is there.
    func publish(replacing replaces: Bool) throws(FileProblem) {
        let kept = name.withLock { $0 } == nil && isStill(place.partial) ? place.partial : nil
        if let temporary = kept ?? name.withLock({ $0 }) {
            try move(temporary, replacing: replaces)
            name.withLock { $0 = nil }
            return
        }
        if try giveName(place.path) { return }
        guard replaces else { throw FileProblem(.exists, path: place.path) }
        // A link cannot take the place of a file, so it needs a name for the time between two calls of the system.
        let temporary = place.newTemporary()
        guard try giveName(temporary) else { throw FileProblem(.exists, path: temporary) }
        do throws(FileProblem) {
            try move(temporary, replacing: true)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Takes its name away, if it has one. What is still being written goes nowhere.
    func abandon() {
        name.withLock { name in
            if let name { unlink(name) }
            name = nil
        }
    }

    // MARK: -

    private static func makeUnnamed(for place: Place) -> IncomingFile? {
        guard let flag = Disk.unnamedFile else { return nil }
        let descriptor = retrying { open(place.folder, flag | O_RDWR | O_CLOEXEC, 0o666) }
        guard descriptor >= 0 else { return nil }
        let file = IncomingFile(descriptor, place, name: nil)
        // For the moment between two names, in which it could be taken for a leftover.
        _ = Leftovers.claim(descriptor)
        return Disk.canGiveName(toUnnamed: descriptor) ? file : nil
    }

    private static func openFile(_ path: String, _ flags: Int32, for place: Place) throws(FileProblem) -> Int32 {
        let descriptor = retrying { open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o666) }
        guard descriptor >= 0 else { throw problem(place) }
        return descriptor
    }

    private static func retrying(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result < 0, errno == EINTR { continue }
            return result
        }
    }

    /// - Returns: Whether nothing was there.
    private func giveName(_ path: String) throws(FileProblem) -> Bool {
        guard !Disk.giveName(path, toUnnamed: descriptor) else { return true }
        guard errno == EEXIST else { throw problem() }
        return false
    }

    private func move(_ temporary: String, replacing replaces: Bool) throws(FileProblem) {
        if replaces {
            guard rename(temporary, place.path) == 0 else { throw problem() }
        } else {
            guard link(temporary, place.path) == 0 else { throw problem() }
            unlink(temporary)
        }
    }

    private func isStill(_ path: String) -> Bool {
        var (mine, there) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && lstat(path, &there) == 0 && mine.st_ino == there.st_ino
            && mine.st_dev == there.st_dev
    }

    private func problem() -> FileProblem { Self.problem(place) }

    private static func problem(_ place: Place) -> FileProblem {
        switch errno {
        case ENOENT, ENOTDIR: FileProblem(.missing, path: place.folder)
        case EEXIST, EISDIR, ENOTEMPTY: FileProblem(.exists, path: place.path)
        case ENOSPC, EDQUOT, EFBIG: FileProblem(.noSpace, path: place.path)
        case EACCES, EPERM: FileProblem(.forbidden, path: place.folder)
        case let number: FileProblem(.unwritable(errno: number), path: place.path)
        }
    }
}
