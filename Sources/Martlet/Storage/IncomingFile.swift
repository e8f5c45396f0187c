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
/// On Linux it has no name at all until then (`O_TMPFILE`), so that nothing is left of it however its process ends; only
/// where it takes the place of another file it has a hidden name beside it, between two calls of the system.
/// Where the file system has no such files it has that name from the start, and loses it with the last reference;
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

        /// What is kept of a download that is to go on later, and what is known of it.
        var partial: String { "\(folder)/\(hiddenName)" }
        var notes: String { "\(folder)/\(hiddenName).json" }
        /// The place of those notes. What is left of them goes with what is left of the download.
        var ofNotes: Place { Place(notes, folder: folder, hiddenName: hiddenName) }

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

    /// - Parameters:
    ///   - descriptor: The open file, which it closes.
    ///   - name: Its name until it is in its place.
    init(_ descriptor: Int32, _ place: Place, name: String?) {
        self.descriptor = descriptor
        self.place = place
        self.name = Locked(name)
    }

    deinit {
        abandon()
        close(descriptor)
    }

    /// An empty file for a place.
    /// - Parameters:
    ///   - isCleared: Whether the leftovers of the place have been removed already, for which the whole folder is read.
    ///   - allowsUnnamed: Whether it may go without a name where the system can do that.
    ///   - claim: How it is locked.
    static func make(
        for place: Place, isCleared: Bool = false, allowsUnnamed: Bool = true,
        claim: (Int32) -> Leftovers.Claim = Leftovers.claim
    ) throws(FileProblem) -> IncomingFile {
        try place.check()
        if !isCleared { removeLeftovers(of: place) }
        if allowsUnnamed, let unnamed = UnnamedFile.make(in: place.folder, mode: 0o666) {
            // For the moment between two names, in which it could be taken for a leftover.
            _ = claim(unnamed)
            return IncomingFile(unnamed, place, name: nil)
        }
        guard let new = Leftovers.makeFile(mode: 0o666, claim: claim, named: place.newTemporary) else {
            throw problem(place)
        }
        return IncomingFile(new.descriptor, place, name: new.path)
    }

    /// What is kept of a download to a place, to go on with; empty where there is nothing yet.
    /// - Parameters:
    ///   - isCleared: Whether the leftovers of the place have been removed already.
    ///   - claim: How it is locked.
    /// - Returns: The file, or `nil` where somebody else is at it, or where nobody could tell.
    static func keptPartial(
        for place: Place, isCleared: Bool = false, claim: (Int32) -> Leftovers.Claim = Leftovers.claim
    ) throws(FileProblem) -> IncomingFile? {
        try place.check()
        if !isCleared { removeLeftovers(of: place) }
        let path = place.partial
        // Whoever had it before may move it to its place between the opening and the locking.
        for _ in 0..<attempts {
            let file = IncomingFile(try openFile(path, O_RDWR | O_CREAT, for: place), place, name: nil)
            switch claim(file.descriptor) {
            case .held where file.isStill(path): return file
            case .held: continue
            case .taken: return nil
            case .impossible:
                // Two that write into it at once would make something that is neither's.
                if try file.size() == 0 { unlink(path) }
                return nil
            }
        }
        return nil
    }

    /// Removes what killed processes have left of downloads to a place.
    static func removeLeftovers(of place: Place) {
        Leftovers.remove(from: place.folder) { $0.hasPrefix("\(place.hiddenName).") && $0.hasSuffix(".tmp") }
    }

    /// How many bytes it has.
    func size() throws(FileProblem) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw problem() }
        return Int64(status.st_size)
    }

    /// Writes a piece at a position.
    func write(_ bytes: Data, at position: Int64) throws(FileProblem) {
        guard bytes.write(to: descriptor, at: position) else { throw problem() }
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

    /// Cuts it off, if it is longer or shorter.
    func truncate(to size: Int64) throws(FileProblem) {
        // Once a file was cut off to nothing, even if nothing was in it, ext4 writes it to the disk when it is closed,
        // and whoever closes it waits: 0.7 s for a gigabyte.
        guard try self.size() != size else { return }
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

    /// How often what is kept is opened again, because it has just been moved away.
    private static let attempts = 16

    private static func openFile(_ path: String, _ flags: Int32, for place: Place) throws(FileProblem) -> Int32 {
        while true {
            let descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o666)
            if descriptor >= 0 { return descriptor }
            guard errno == EINTR else { throw problem(place) }
        }
    }

    /// - Returns: Whether nothing was there.
    private func giveName(_ path: String) throws(FileProblem) -> Bool {
        guard !UnnamedFile.giveName(path, to: descriptor) else { return true }
        guard errno == EEXIST else { throw problem() }
        return false
    }

    private func move(_ temporary: String, replacing replaces: Bool) throws(FileProblem) {
        let isMoved = replaces ? rename(temporary, place.path) == 0 : Disk.move(temporary, toUnused: place.path)
        guard isMoved else { throw problem() }
    }

    private func isStill(_ path: String) -> Bool { Leftovers.isName(path, of: descriptor) }

    private func problem() -> FileProblem { Self.problem(place) }

    private static func problem(_ place: Place) -> FileProblem {
        FileProblem(writing: place.path, in: place.folder, errno: errno)
    }
}
