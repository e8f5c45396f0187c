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
/// one nobody has a lock on is nobody's.
enum Leftovers {
    /// Locks a file that is open. It stays locked until the last descriptor of it is closed.
    /// - Returns: Whether nobody else had it.
    static func claim(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Removes those files of a folder that have such names and are nobody's.
    static func remove(from folder: String, where isTheirs: (String) -> Bool) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where isTheirs(name) {
            let path = "\(folder)/\(name)"
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            if claim(descriptor) { unlink(path) }
            close(descriptor)
        }
    }
}
