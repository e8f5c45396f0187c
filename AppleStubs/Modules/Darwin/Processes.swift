public import _DarwinTypes

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/intro.2.html
// Always available.
public var errno: Int32 {
    get { fatalError() }
    set { fatalError() }
}
public var EACCES: Int32 { fatalError() }
public var EAGAIN: Int32 { fatalError() }
public var ECHILD: Int32 { fatalError() }
public var EDQUOT: Int32 { fatalError() }
public var EEXIST: Int32 { fatalError() }
public var EFBIG: Int32 { fatalError() }
public var EINTR: Int32 { fatalError() }
public var EINVAL: Int32 { fatalError() }
public var EISDIR: Int32 { fatalError() }
public var ELOOP: Int32 { fatalError() }
public var EMLINK: Int32 { fatalError() }
public var ENOENT: Int32 { fatalError() }
public var ENOSPC: Int32 { fatalError() }
public var ENOSYS: Int32 { fatalError() }
public var ENOTDIR: Int32 { fatalError() }
public var ENOTEMPTY: Int32 { fatalError() }
public var ENOTSUP: Int32 { fatalError() }
public var EOPNOTSUPP: Int32 { fatalError() }
public var EPERM: Int32 { fatalError() }
public var EROFS: Int32 { fatalError() }
public var EWOULDBLOCK: Int32 { fatalError() }
public var EXDEV: Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/strerror.3.html
// Always available.
@discardableResult public func strerror(_ __errnum: Int32) -> UnsafeMutablePointer<CChar>! { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getpid.2.html
// Always available.
@discardableResult public func getpid() -> pid_t { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/getuid.2.html
// Always available.
@discardableResult public func geteuid() -> uid_t { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/getpwuid_r.3.html
// Always available.
public struct passwd {
    public var pw_uid: uid_t = 0
    public var pw_dir: UnsafeMutablePointer<CChar>!
    public init() {}
}
// Always available.
@discardableResult public func getpwuid_r(
    _: uid_t, _: UnsafeMutablePointer<passwd>!, _: UnsafeMutablePointer<CChar>!, _: Int,
    _: UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>!
) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/time.3.html
// Always available.
@discardableResult public func time(_: UnsafeMutablePointer<time_t>!) -> time_t { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/usleep.3.html
// Always available.
@discardableResult public func usleep(_: UInt32) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/atexit.3.html
// Always available.
@discardableResult public func atexit(_: (@convention(c) () -> Void)!) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/dlopen.3.html
// Always available.
@discardableResult public func dlopen(
    _ __path: UnsafePointer<CChar>!, _ __mode: Int32
) -> UnsafeMutableRawPointer! { fatalError() }
public var RTLD_NOW: Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/dlsym.3.html
// Always available.
@discardableResult public func dlsym(
    _ __handle: UnsafeMutableRawPointer!, _ __symbol: UnsafePointer<CChar>!
) -> UnsafeMutableRawPointer! { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_key_create.3.html
// Always available.
public typealias pthread_key_t = UInt
@discardableResult public func pthread_key_create(
    _: UnsafeMutablePointer<pthread_key_t>!, _: (@convention(c) (UnsafeMutableRawPointer) -> Void)!
) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_setspecific.3.html
// Always available.
@discardableResult public func pthread_setspecific(_: pthread_key_t, _: UnsafeRawPointer?) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/pthread_getspecific.3.html
// Always available.
@discardableResult public func pthread_getspecific(_: pthread_key_t) -> UnsafeMutableRawPointer? { fatalError() }

// https://developer.apple.com/documentation/security/security-framework-result-codes
// Always available.
public typealias OSStatus = Int32
