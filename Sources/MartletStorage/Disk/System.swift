package import MartletLibc

/// The functions of the C library that may wait for a disk, a lock or a terminal. All calls go through this type or
/// ``Disk``, so that ``BlockingCalls`` sees them. A test finds direct calls in the sources.
package enum System {
    package static func access(_ path: UnsafePointer<CChar>, _ mode: Int32) -> Int32 {
        BlockingCalls.check("access")
        return MartletLibc.access(path, mode)
    }

    @discardableResult
    package static func close(_ descriptor: Int32) -> Int32 {
        BlockingCalls.check("close")
        return MartletLibc.close(descriptor)
    }

    @discardableResult
    package static func fchmod(_ descriptor: Int32, _ mode: mode_t) -> Int32 {
        BlockingCalls.check("fchmod")
        return MartletLibc.fchmod(descriptor, mode)
    }

    @discardableResult
    package static func flock(_ descriptor: Int32, _ operation: Int32) -> Int32 {
        BlockingCalls.check("flock")
        return flockOfLibc(descriptor, operation)
    }

    @discardableResult
    package static func fstat(_ descriptor: Int32, _ status: UnsafeMutablePointer<stat>) -> Int32 {
        BlockingCalls.check("fstat")
        return MartletLibc.fstat(descriptor, status)
    }

    /// Makes a descriptor non-blocking, and marks it to be closed when the process executes another program.
    /// - Returns: Whether it worked.
    package static func makeNonblocking(_ descriptor: Int32) -> Bool {
        BlockingCalls.check("fcntl")
        let flags = MartletLibc.fcntl(descriptor, F_GETFL)
        return flags >= 0 && MartletLibc.fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
            && MartletLibc.fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    }

    package static func fsync(_ descriptor: Int32) -> Int32 {
        BlockingCalls.check("fsync")
        return MartletLibc.fsync(descriptor)
    }

    package static func ftruncate(_ descriptor: Int32, _ size: off_t) -> Int32 {
        BlockingCalls.check("ftruncate")
        return MartletLibc.ftruncate(descriptor, size)
    }

    @discardableResult
    package static func futimens(_ descriptor: Int32, _ times: UnsafePointer<timespec>!) -> Int32 {
        BlockingCalls.check("futimens")
        return MartletLibc.futimens(descriptor, times)
    }

    package static func link(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
        BlockingCalls.check("link")
        if injectsFault(into: "link", at: new) { return -1 }
        return MartletLibc.link(old, new)
    }

    /// The home folder of the process's user in the password database, which may be on a server.
    package static func homeFolder() -> String? {
        BlockingCalls.check("getpwuid_r")
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // Room for the strings of the longest entries.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 16) { strings in
            guard let start = strings.baseAddress,
                MartletLibc.getpwuid_r(geteuid(), &entry, start, strings.count, &found) == 0,
                let folder = found?.pointee.pw_dir
            else { return nil }
            return String(cString: folder)
        }
    }

    #if os(Linux) || os(Android)
        package static func inotifyAddWatch(_ descriptor: Int32, _ path: UnsafePointer<CChar>, _ mask: UInt32) -> Int32
        {
            BlockingCalls.check("inotify_add_watch")
            return MartletLibc.inotify_add_watch(descriptor, path, mask)
        }

        package static func linkat(
            _ oldFolder: Int32, _ old: UnsafePointer<CChar>, _ newFolder: Int32, _ new: UnsafePointer<CChar>,
            _ flags: Int32
        ) -> Int32 {
            BlockingCalls.check("linkat")
            if injectsFault(into: "linkat", at: new) { return -1 }
            return MartletLibc.linkat(oldFolder, old, newFolder, new, flags)
        }
    #endif

    package static func lstat(_ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<stat>) -> Int32 {
        BlockingCalls.check("lstat")
        return MartletLibc.lstat(path, status)
    }

    package static func mkdir(_ path: UnsafePointer<CChar>, _ mode: mode_t) -> Int32 {
        BlockingCalls.check("mkdir")
        return MartletLibc.mkdir(path, mode)
    }

    package static func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
        BlockingCalls.check("open")
        if injectsFault(into: "open", at: path) { return -1 }
        return MartletLibc.open(path, flags)
    }

    package static func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
        BlockingCalls.check("open")
        if injectsFault(into: "open", at: path) { return -1 }
        return MartletLibc.open(path, flags, mode)
    }

    /// - Parameter timeout: The time to wait in milliseconds; -1 for no limit.
    package static func poll(_ descriptors: inout [pollfd], timeout: Int32) -> Int32 {
        BlockingCalls.check("poll")
        return MartletLibc.poll(&descriptors, nfds_t(descriptors.count), timeout)
    }

    package static func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer!, _ count: Int, _ position: off_t)
        -> Int
    {
        BlockingCalls.check("pread")
        return MartletLibc.pread(descriptor, bytes, count, position)
    }

    package static func pwrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer!, _ count: Int, _ position: off_t) -> Int
    {
        BlockingCalls.check("pwrite")
        return MartletLibc.pwrite(descriptor, bytes, count, position)
    }

    package static func read(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer!, _ count: Int) -> Int {
        BlockingCalls.check("read")
        return MartletLibc.read(descriptor, bytes, count)
    }

    package static func readlink(_ path: UnsafePointer<CChar>, _ target: UnsafeMutablePointer<CChar>!, _ count: Int)
        -> Int
    {
        BlockingCalls.check("readlink")
        return Int(MartletLibc.readlink(path, target, count))
    }

    package static func rename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
        BlockingCalls.check("rename")
        return MartletLibc.rename(old, new)
    }

    package static func stat(_ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<stat>) -> Int32 {
        BlockingCalls.check("stat")
        return MartletLibc.fstatat(AT_FDCWD, path, status, 0)
    }

    @discardableResult
    package static func unlink(_ path: UnsafePointer<CChar>) -> Int32 {
        BlockingCalls.check("unlink")
        if injectsFault(into: "unlink", at: path) { return -1 }
        return MartletLibc.unlink(path)
    }

    #if os(macOS) || os(Linux)
        package static func waitpid(_ process: pid_t, _ status: UnsafeMutablePointer<Int32>) -> pid_t {
            BlockingCalls.check("waitpid")
            return MartletLibc.waitpid(process, status, 0)
        }
    #endif

    package static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer!, _ count: Int) -> Int {
        BlockingCalls.check("write")
        return MartletLibc.write(descriptor, bytes, count)
    }

    /// Whether a test makes this call fail. If so, sets `errno`.
    package static func injectsFault(into call: StaticString, at path: UnsafePointer<CChar>) -> Bool {
        guard let number = SystemFaults.error(of: call, at: path) else { return false }
        errno = number
        return true
    }
}
