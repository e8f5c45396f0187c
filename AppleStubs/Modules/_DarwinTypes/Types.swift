// In Swift, a function cannot have the name of a type in the same module, as it can in C. Hence the types have their
// own module.

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man5/types.5.html
// Always available.
public typealias mode_t = UInt16
public typealias off_t = Int64
public typealias ino_t = UInt64
public typealias dev_t = Int32
public typealias nlink_t = UInt16
public typealias uid_t = UInt32
public typealias gid_t = UInt32
public typealias pid_t = Int32
public typealias time_t = Int

// https://developer.apple.com/documentation/kernel/timespec
// Always available.
public struct timespec: Sendable {
    public var tv_sec: time_t = 0
    public var tv_nsec: Int = 0
    public init() {}
}

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
// Always available.
public struct stat: Sendable {
    public var st_dev: dev_t = 0
    public var st_mode: mode_t = 0
    public var st_nlink: nlink_t = 0
    public var st_ino: ino_t = 0
    public var st_uid: uid_t = 0
    public var st_gid: gid_t = 0
    public var st_atimespec = timespec()
    public var st_mtimespec = timespec()
    public var st_ctimespec = timespec()
    public var st_birthtimespec = timespec()
    public var st_size: off_t = 0
    public init() {}
}
