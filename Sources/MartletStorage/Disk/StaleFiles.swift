package import MartletLibc

/// Temporary files left behind by killed processes.
///
/// A process locks (`flock`) its temporary files, so a file that no process has locked is stale. On a file system
/// without locks, stale files cannot be recognized and stay.
package enum StaleFiles {
    /// The result of locking a file.
    package enum Claim {
        case held
        /// Another process or task has locked it.
        case heldElsewhere
        /// The file system has no locks. Some network shares have none.
        case impossible
    }

    /// The number of attempts to create a file, which another process may remove each time before it is locked.
    private static let attempts = 16

    /// Locks an open file. It stays locked until its last descriptor is closed.
    package static func claim(_ descriptor: Int32) -> Claim {
        while System.flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .heldElsewhere
            default: return .impossible
            }
        }
        return .held
    }

    /// Creates a file, open for reading and writing, that is not stale while it is open.
    /// - Parameters:
    ///   - newName: Returns a new path at each call.
    ///   - claim: Locks the file.
    /// - Returns: The descriptor and the path; `nil` if the file cannot be created, with the reason in `errno`.
    package static func makeFile(
        mode: mode_t, claim: (Int32) -> Claim = StaleFiles.claim, named newName: () -> String
    ) -> (descriptor: Int32, path: String)? {
        for _ in 0..<attempts {
            let path = newName()
            let descriptor = System.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            guard descriptor >= 0 else {
                if errno == EINTR { continue }
                return nil
            }
            switch claim(descriptor) {
            case .held where isName(path, of: descriptor): return (descriptor, path)
            // No other process can lock the file, either, so none removes it.
            case .impossible: return (descriptor, path)
            // Another process considers the file stale, and removes it.
            case .held, .heldElsewhere:
                System.unlink(path)
                System.close(descriptor)
            }
        }
        errno = EAGAIN
        return nil
    }

    /// Whether a path still names an open file.
    static func isName(_ path: String, of descriptor: Int32) -> Bool {
        var (mine, there) = (stat(), stat())
        return System.fstat(descriptor, &mine) == 0 && System.lstat(path, &there) == 0 && mine.st_ino == there.st_ino
            && mine.st_dev == there.st_dev
    }

    /// Removes the stale files with matching names from a folder. The files of other users stay.
    package static func remove(from folder: String, of user: uid_t = geteuid(), where matches: (String) -> Bool) {
        var names: [String] = []
        try? Disk.forEachName(in: folder) { if matches($0) { names.append($0) } }
        for name in names {
            let path = "\(folder)/\(name)"
            let descriptor = System.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            var status = stat()
            let isOwn = System.fstat(descriptor, &status) == 0 && status.st_uid == user
            if isOwn, claim(descriptor) == .held { System.unlink(path) }
            System.close(descriptor)
        }
    }
}
