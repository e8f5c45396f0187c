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

/// Files that processes leave which are killed while they have them. Each is locked (`flock`) by whoever uses it, so that
/// one nobody has a lock on is nobody's. Where a file system has no locks, nobody can tell, and leftovers stay.
enum Leftovers {
    /// What became of an attempt to lock a file.
    enum Claim {
        case held
        /// Somebody else has it.
        case taken
        /// The file system has no locks, as network shares may have none.
        case impossible
    }

    /// Others remove a new file now and then, between its making and its locking; never so often in a row.
    private static let attempts = 16

    /// Locks a file that is open. It stays locked until the last descriptor of it is closed.
    static func claim(_ descriptor: Int32) -> Claim {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .taken
            default: return .impossible
            }
        }
        return .held
    }

    /// Makes a file, open for reading and writing, that nobody takes for a leftover as long as it is open.
    /// - Parameters:
    ///   - newName: Paths, each another one.
    ///   - claim: How it is locked.
    /// - Returns: Its descriptor and its path; `nil` where it cannot be made, for the reason in `errno`.
    static func makeFile(
        mode: mode_t, claim: (Int32) -> Claim = Leftovers.claim, named newName: () -> String
    ) -> (descriptor: Int32, path: String)? {
        for _ in 0..<attempts {
            let path = newName()
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            guard descriptor >= 0 else {
                if errno == EINTR { continue }
                return nil
            }
            switch claim(descriptor) {
            case .held where isName(path, of: descriptor): return (descriptor, path)
            // Nobody else can lock it either, so that nobody removes it.
            case .impossible: return (descriptor, path)
            // Somebody has taken it for a leftover, and removes it.
            case .held, .taken:
                unlink(path)
                close(descriptor)
            }
        }
        errno = EAGAIN
        return nil
    }

    /// Whether a path leads to a file that is open.
    static func isName(_ path: String, of descriptor: Int32) -> Bool {
        var (mine, there) = (stat(), stat())
        return fstat(descriptor, &mine) == 0 && lstat(path, &there) == 0 && mine.st_ino == there.st_ino
            && mine.st_dev == there.st_dev
    }

    /// Removes those files of a folder that have such names and are nobody's.
    static func remove(from folder: String, where isTheirs: (String) -> Bool) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where isTheirs(name) {
            let path = "\(folder)/\(name)"
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            if claim(descriptor) == .held { unlink(path) }
            close(descriptor)
        }
    }
}
