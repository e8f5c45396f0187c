@_exported public import _DarwinTypes

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/open.2.html
// Always available.
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { fatalError() }
public var O_RDONLY: Int32 { fatalError() }
public var O_WRONLY: Int32 { fatalError() }
public var O_RDWR: Int32 { fatalError() }
public var O_NONBLOCK: Int32 { fatalError() }
public var O_CREAT: Int32 { fatalError() }
public var O_EXCL: Int32 { fatalError() }
public var O_NOFOLLOW: Int32 { fatalError() }
public var O_CLOEXEC: Int32 { fatalError() }
public var O_DIRECTORY: Int32 { fatalError() }
public var O_EVTONLY: Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/close.2.html
// Always available.
@discardableResult public func close(_: Int32) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/read.2.html
// Always available.
@discardableResult public func read(
    _ __fd: Int32, _ __buf: UnsafeMutableRawPointer!, _ __nbyte: Int
) -> Int { fatalError() }
@discardableResult public func pread(
    _ __fd: Int32, _ __buf: UnsafeMutableRawPointer!, _ __nbyte: Int, _ __offset: off_t
) -> Int { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/write.2.html
// Always available.
@discardableResult public func write(_ __fd: Int32, _ __buf: UnsafeRawPointer!, _ __nbyte: Int) -> Int { fatalError() }
@discardableResult public func pwrite(
    _ __fd: Int32, _ __buf: UnsafeRawPointer!, _ __nbyte: Int, _ __offset: off_t
) -> Int { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html
// Always available.
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { fatalError() }
public var F_FULLFSYNC: Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fsync.2.html
// Always available.
@discardableResult public func fsync(_: Int32) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/flock.2.html
// Always available.
@discardableResult public func flock(_: Int32, _: Int32) -> Int32 { fatalError() }
public var LOCK_EX: Int32 { fatalError() }
public var LOCK_NB: Int32 { fatalError() }
public var LOCK_UN: Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/stat.2.html
// Always available.
@discardableResult public func stat(
    _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<_DarwinTypes.stat>!
) -> Int32 { fatalError() }
@discardableResult public func lstat(
    _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<_DarwinTypes.stat>!
) -> Int32 { fatalError() }
@discardableResult public func fstat(
    _: Int32, _: UnsafeMutablePointer<_DarwinTypes.stat>!
) -> Int32 { fatalError() }
// The page is older than `fstatat`, which is part of POSIX and available since macOS 10.10 and iOS 8.
@available(iOS 8, macOS 10.10, tvOS 9, watchOS 2, visionOS 1, *)
@discardableResult public func fstatat(
    _: Int32, _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<_DarwinTypes.stat>!, _: Int32
) -> Int32 { fatalError() }
public var AT_FDCWD: Int32 { fatalError() }
public var S_IFMT: mode_t { fatalError() }
public var S_IFREG: mode_t { fatalError() }
public var S_IFDIR: mode_t { fatalError() }
public var S_IFLNK: mode_t { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/chmod.2.html
// Always available.
@discardableResult public func fchmod(_: Int32, _: mode_t) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/truncate.2.html
// Always available.
@discardableResult public func ftruncate(_: Int32, _: off_t) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/utimes.2.html
// The page lists only the older `futimes`. `futimens(_:_:)` is part of POSIX and available since macOS 10.13 and iOS
// 11.
@available(iOS 11, macOS 10.13, tvOS 11, watchOS 4, visionOS 1, *)
@discardableResult public func futimens(_ __fd: Int32, _ __times: UnsafePointer<timespec>!) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/access.2.html
// Always available.
@discardableResult public func access(_: UnsafePointer<CChar>!, _: Int32) -> Int32 { fatalError() }
public var F_OK: Int32 { fatalError() }
public var W_OK: Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/link.2.html
// Always available.
@discardableResult public func link(_: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/readlink.2.html
// Always available.
@discardableResult public func readlink(
    _: UnsafePointer<CChar>!, _: UnsafeMutablePointer<CChar>!, _: Int
) -> Int { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/unlink.2.html
// Always available.
@discardableResult public func unlink(_: UnsafePointer<CChar>!) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/rename.2.html
// Always available.
@discardableResult public func rename(
    _ __old: UnsafePointer<CChar>!, _ __new: UnsafePointer<CChar>!
) -> Int32 { fatalError() }
// The page is older than `renamex_np`, which is available since macOS 10.12 and iOS 10; see their rename(2).
@available(iOS 10, macOS 10.12, tvOS 10, watchOS 3, visionOS 1, *)
@discardableResult public func renamex_np(
    _: UnsafePointer<CChar>!, _: UnsafePointer<CChar>!, _: UInt32
) -> Int32 { fatalError() }
public var RENAME_EXCL: Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/mkdir.2.html
// Always available.
@discardableResult public func mkdir(_: UnsafePointer<CChar>!, _: mode_t) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/isatty.3.html
// Always available.
public func isatty(_: Int32) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/stdout.4.html
// Always available.
public var STDOUT_FILENO: Int32 { fatalError() }
public var STDERR_FILENO: Int32 { fatalError() }
