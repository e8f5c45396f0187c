#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// A lock between processes (`flock`) that can be taken away from a holder who does not let go.
///
/// It is the last of a row of files: `name`, `name.1`, `name.2` and so on. The system frees it when its holder dies, but not
/// when its holder is stopped. Whoever takes it away then adds the next file to the row, locked already, which only one can
/// do; a holder whose file is not the last one has lost it. The last but one stays, so that nobody who reads the folder
/// meanwhile can find the row empty.
///
/// Who takes the lock leaves its name in it and then looks whether it is still the last one; who takes it away adds a file
/// and then looks whether the name is still that of the old holder. One of the two sees the other, so that a lock which
/// has just changed hands is not taken away. Every call blocks, if only for a moment.
struct FileLock: Sendable {
    let path: String
    let steps: FileSteps

    /// What one try gave.
    enum Attempt {
        case taken(Claim)
        case busy(Holder)
    }

    /// Who has the lock, as far as others can see: equal as long as it is the same holder.
    struct Holder: Hashable, Sendable {
        let number: Int
        let inode: UInt64
        let changedAt: [Int]
        let name: [UInt8]
    }

    /// Takes the lock if nobody has it.
    func attempt() throws(StorageFailure) -> Attempt {
        while true {
            let last = try lastNumber()
            let file = file(last ?? 0)
            // A row without files starts here; one with files may just have grown.
            let descriptor = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (last == nil ? O_CREAT : 0), 0o600)
            guard descriptor >= 0 else {
                if errno == ENOENT || errno == EINTR { continue }
                throw failure()
            }
            if last == nil { fchmod(descriptor, 0o600) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                defer { close(descriptor) }
                if number == EINTR { continue }
                guard number == EWOULDBLOCK else {
                    errno = number
                    throw failure()
                }
                return .busy(holder(descriptor, number: last ?? 0))
            }
            let claim = Claim(descriptor, number: last ?? 0, of: self)
            steps.reached(.locked)
            sign(descriptor)
            steps.reached(.lockSigned)
            if claim.stands { return .taken(claim) }
            claim.drop()
        }
    }

    /// Takes the lock away from a holder.
    /// - Returns: `nil` if somebody else was faster, or has got it from that holder meanwhile.
    func takeAway(from holder: Holder) throws(StorageFailure) -> Claim? {
        switch try attempt() {
        case .taken(let claim): return claim
        case .busy(let current): guard current == holder else { return nil }
        }
        PrivateFile(path: path).removeLeftovers(olderThan: 60)
        let temporary = PrivateFile(path: path).newTemporary()
        let descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure() }
        let claim = Claim(descriptor, number: holder.number + 1, of: self)
        fchmod(descriptor, 0o600)
        defer { unlink(temporary) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = failure()
            claim.drop()
            throw error
        }
        sign(descriptor)
        steps.reached(.successorMade)
        let successor = file(holder.number + 1)
        guard link(temporary, successor) == 0 else {
            let isTaken = errno == EEXIST
            let error = failure()
            claim.drop()
            if isTaken { return nil }
            throw error
        }
        steps.reached(.takenAway)
        guard isStill(holder) else {
            unlink(successor)
            claim.drop()
            return nil
        }
        if holder.number > 0 { unlink(file(holder.number - 1)) }
        return claim
    }

    /// Whether the file of this number and inode is the last of the row.
    fileprivate func isLast(_ number: Int, inode: UInt64) -> Bool {
        guard let last = try? lastNumber(), last == number else { return false }
        var status = stat()
        return lstat(file(number), &status) == 0 && UInt64(status.st_ino) == inode
    }

    private func file(_ number: Int) -> String {
        number == 0 ? path : "\(path).\(number)"
    }

    private func lastNumber() throws(StorageFailure) -> Int? {
        let (folder, name) = PrivateFile(path: path).place
        var last: Int?
        do {
            try Disk.forEachName(in: folder) { found in
                if let number = Self.number(of: found, inRowOf: name) { last = max(last ?? 0, number) }
            }
        } catch {
            throw StorageFailure(.unreachable, "could not lock \(path): \(error)")
        }
        return last
    }

    /// The place of a file in the row; `nil` for others, which may lie beside it whatever they are called.
    private static func number(of found: String, inRowOf name: String) -> Int? {
        guard found.utf8.starts(with: name.utf8) else { return nil }
        let rest = found.utf8.dropFirst(name.utf8.count)
        if rest.isEmpty { return 0 }
        let digits = rest.dropFirst()
        // No row gets that long.
        guard rest.first == UInt8(ascii: "."), let first = digits.first, first != UInt8(ascii: "0"),
            digits.count <= 15, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return Int(String(Substring(digits)))
    }

    /// Leaves a name that differs from that of every holder before. On a full disk the time alone must do.
    private func sign(_ descriptor: Int32) {
        var name = Array("\(getpid()) \(UInt64.random(in: 0 ... .max))\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, &name, name.count, 0)
        futimens(descriptor, nil)
    }

    /// Whether nobody else has taken this holder's file.
    private func isStill(_ holder: Holder) -> Bool {
        let descriptor = open(file(holder.number), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return self.holder(descriptor, number: holder.number) == holder
    }

    private func holder(_ descriptor: Int32, number: Int) -> Holder {
        var status = stat()
        fstat(descriptor, &status)
        var name = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &name, name.count, 0)
        return Holder(
            number: number, inode: UInt64(status.st_ino),
            changedAt: [status.modificationTime, status.modificationNanoseconds],
            name: Array(name.prefix(max(count, 0))))
    }

    private func failure() -> StorageFailure {
        let number = errno
        return StorageFailure(.unreachable, "could not lock \(path): \(String(cString: strerror(number)))")
    }
}

extension FileLock {
    /// A lock that was taken. It is given back by dropping it, once, or by the end of the process.
    struct Claim: Sendable {
        private let descriptor: Int32
        private let number: Int
        private let inode: UInt64
        private let lock: FileLock

        fileprivate init(_ descriptor: Int32, number: Int, of lock: FileLock) {
            var status = stat()
            fstat(descriptor, &status)
            self.descriptor = descriptor
            self.number = number
            self.inode = UInt64(status.st_ino)
            self.lock = lock
        }

        /// Whether nobody has taken the lock away.
        var stands: Bool { lock.isLast(number, inode: inode) }

        func drop() {
            // A process that is being started on another thread has a copy of the descriptor for a moment.
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
    }
}
