internal import MartletLibc

/// A lock between processes (`flock`) that can be taken away from a suspended holder.
///
/// The lock is the last file of a sequence: `name`, `name.1`, `name.2` and so on. When a holder dies, the system
/// unlocks its file. When a holder is suspended, the file stays locked. To take the lock away, a process locks a
/// temporary file and renames it to the next name of the sequence; only one process can succeed. The previous holder
/// has then lost the lock, because its file is no longer the last one. That file stays, so that a process that lists
/// the folder at that moment never finds the sequence empty.
///
/// A process that locks the last file writes a unique signature into it, and then checks that the file is still the
/// last one. A process that takes the lock away renames its file, and then checks that the previous file still has the
/// old holder's signature. At least one of the two notices the other, so a lock that has just changed hands is not
/// taken away. Every call blocks briefly.
package struct FileLock: Sendable {
    let path: String
    let steps: FileSteps

    /// The result of an attempt to acquire the lock.
    enum Attempt {
        /// This process has acquired the lock.
        case acquired(Claim)
        /// Another holder has the lock.
        case busy(Holder)
    }

    /// The holder of the lock, as other processes see it. Equal values are the same holder.
    struct Holder: Hashable, Sendable {
        let number: Int
        let version: Disk.Version
        let signature: [UInt8]
    }

    private static let maximumMisses = 100

    /// Acquires the lock if it is free.
    func attempt() throws(StorageError) -> Attempt {
        try PrivateFile(path: path).checkPath()
        var misses = 0
        while true {
            let last = try lastNumber()
            let file = file(last ?? 0)
            guard let descriptor = try open(file, creates: last == nil, &misses) else { continue }
            do throws(StorageError) {
                try refuseForeignLink(descriptor)
            } catch {
                System.close(descriptor)
                throw error
            }
            if last == nil { System.fchmod(descriptor, 0o600) }
            guard System.flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                defer { System.close(descriptor) }
                if number == EINTR { continue }
                guard number == EWOULDBLOCK else {
                    errno = number
                    throw failure()
                }
                return .busy(holder(descriptor, number: last ?? 0))
            }
            let claim = Claim(descriptor, number: last ?? 0, of: self)
            // Do this each time: the process that created the file may have been killed right afterwards.
            steps.protection?.protect(file, .none)
            steps.reached(.locked)
            sign(descriptor)
            steps.reached(.lockSigned)
            if claim.isValid { return .acquired(claim) }
            claim.release()
            if last == nil { try refuseOtherSpelling() }
            misses += 1
            guard misses < Self.maximumMisses else { throw unlistedFolder() }
        }
    }

    /// The locks were not valid: other processes were faster many times, or the folder cannot be listed because this
    /// process has no descriptor left.
    private func unlistedFolder() -> StorageError {
        var failure = StorageError(.unreachable, "could not lock \(path): its folder cannot be read now")
        failure.isOutOfResources = true
        return failure
    }

    /// Opens a file of the sequence. Creates only the first one: if a later one is missing, another process has removed
    /// it because the sequence has grown.
    /// - Returns: `nil` if the caller must look at the sequence again. If the folder was deleted, that would not help,
    ///   so this throws after many times.
    private func open(_ file: String, creates: Bool, _ misses: inout Int) throws(StorageError) -> Int32? {
        let descriptor = System.open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0), 0o600)
        if descriptor >= 0 { return descriptor }
        if errno == EINTR { return nil }
        misses += 1
        guard errno == ENOENT, misses < Self.maximumMisses else { throw failure() }
        return nil
    }

    /// Takes the lock away from a suspended holder.
    /// - Returns: `nil` if another process was faster.
    func takeAway(from holder: Holder) throws(StorageError) -> Claim? {
        switch try attempt() {
        case .acquired(let claim): return claim
        case .busy(let current): guard current == holder else { return nil }
        }
        PrivateFile(path: path).removeLeftovers(olderThan: 60)
        let temporary = PrivateFile(path: path).newTemporary()
        let descriptor = System.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure() }
        let claim = Claim(descriptor, number: holder.number + 1, of: self)
        System.fchmod(descriptor, 0o600)
        steps.protection?.protect(temporary, .none)
        defer { System.unlink(temporary) }
        guard System.flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = failure()
            claim.release()
            throw error
        }
        sign(descriptor)
        steps.reached(.successorMade)
        let successor = file(holder.number + 1)
        guard Disk.move(temporary, toUnused: successor) else {
            let isTaken = errno == EEXIST
            let error = failure()
            claim.release()
            if isTaken { return nil }
            throw error
        }
        steps.reached(.takenAway)
        guard isStill(holder) else {
            System.unlink(successor)
            claim.release()
            return nil
        }
        if holder.number > 0 { System.unlink(file(holder.number - 1)) }
        return claim
    }

    /// Whether the file of this number and inode is the last of the sequence.
    fileprivate func isLast(_ number: Int, inode: UInt64) -> Bool {
        guard let last = try? lastNumber(), last == number else { return false }
        var status = stat()
        return System.lstat(file(number), &status) == 0 && UInt64(status.st_ino) == inode
    }

    /// Refuses a hard link to another user's file: signing it as a lock file would overwrite it.
    private func refuseForeignLink(_ descriptor: Int32) throws(StorageError) {
        var status = stat()
        guard System.fstat(descriptor, &status) == 0 else { throw failure() }
        guard status.st_nlink > 1, status.st_uid != geteuid() else { return }
        throw StorageError(
            .unreachable,
            "could not lock \(path): it is a hard link to a file of another user (\(status.st_uid)). Delete the link, and "
                + "make its folder writable by you alone")
    }

    /// On a disk that does not distinguish two spellings of a name, the folder may list the file under the other one.
    private func refuseOtherSpelling() throws(StorageError) {
        guard try lastNumber() == nil, System.access(path, F_OK) == 0 else { return }
        throw StorageError(
            .unreachable,
            "could not lock \(path): its folder lists the file in another spelling, perhaps in capital letters. Use that "
                + "spelling everywhere")
    }

    private func file(_ number: Int) -> String {
        number == 0 ? path : "\(path).\(number)"
    }

    private func lastNumber() throws(StorageError) -> Int? {
        let (folder, name) = PrivateFile(path: path).location
        var last: Int?
        do {
            try Disk.forEachName(in: folder) { found in
                if let number = Self.number(of: found, inSequenceOf: name) { last = max(last ?? 0, number) }
            }
        } catch {
            var failure = StorageError(.unreachable, "could not lock \(path): \(error)")
            failure.isOutOfResources = error.isOutOfResources
            throw failure
        }
        return last
    }

    /// The number of a file in the sequence; `nil` for other files in the folder.
    private static func number(of found: String, inSequenceOf name: String) -> Int? {
        guard found.utf8.starts(with: name.utf8) else { return nil }
        let rest = found.utf8.dropFirst(name.utf8.count)
        if rest.isEmpty { return 0 }
        let digits = rest.dropFirst()
        // No sequence needs more than 15 digits, which always fit an Int.
        guard rest.first == UInt8(ascii: "."), let first = digits.first, first != UInt8(ascii: "0"),
            digits.count <= 15, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return Int(String(Substring(digits)))
    }

    /// Writes a unique signature. On a full disk the modification time alone distinguishes holders.
    private func sign(_ descriptor: Int32) {
        var signature = Array("\(getpid()) \(UInt64.random(in: 0 ... .max))\n".utf8)
        _ = System.ftruncate(descriptor, 0)
        _ = System.pwrite(descriptor, &signature, signature.count, 0)
        System.futimens(descriptor, nil)
    }

    /// Whether the holder's file is still signed by this holder.
    private func isStill(_ holder: Holder) -> Bool {
        let descriptor = System.open(file(holder.number), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { System.close(descriptor) }
        return self.holder(descriptor, number: holder.number) == holder
    }

    private func holder(_ descriptor: Int32, number: Int) -> Holder {
        var status = stat()
        System.fstat(descriptor, &status)
        var signature = [UInt8](repeating: 0, count: 64)
        let count = System.pread(descriptor, &signature, signature.count, 0)
        return Holder(
            number: number, version: Disk.Version(status), signature: Array(signature.prefix(max(count, 0))))
    }

    private func failure() -> StorageError {
        StorageError(couldNot: "lock", path, steps.protection)
    }
}

extension FileLock {
    /// An acquired lock. Release it exactly once; the end of the process releases it, too.
    package struct Claim: Sendable {
        private let descriptor: Int32
        private let number: Int
        private let inode: UInt64
        private let lock: FileLock

        fileprivate init(_ descriptor: Int32, number: Int, of lock: FileLock) {
            var status = stat()
            System.fstat(descriptor, &status)
            self.descriptor = descriptor
            self.number = number
            self.inode = UInt64(status.st_ino)
            self.lock = lock
        }

        /// Whether no other process has taken the lock away.
        var isValid: Bool { lock.isLast(number, inode: inode) }

        func release() {
            // Closing is not enough: a child process that another thread is spawning may hold a copy of the descriptor.
            System.flock(descriptor, LOCK_UN)
            System.close(descriptor)
        }
    }
}
