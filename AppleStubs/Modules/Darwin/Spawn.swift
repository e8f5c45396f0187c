public import _DarwinTypes

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/sigsetops.3.html
// Always available.
public typealias sigset_t = UInt32
public var SIGPIPE: Int32 { fatalError() }
@discardableResult public func sigemptyset(_: UnsafeMutablePointer<sigset_t>!) -> Int32 { fatalError() }
@discardableResult public func sigaddset(_: UnsafeMutablePointer<sigset_t>!, _: Int32) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/posix_spawn.2.html
// Always available.
public typealias posix_spawnattr_t = UnsafeMutableRawPointer
public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
#if os(iOS) || os(macOS) || os(visionOS)
    // Always available.
    public var POSIX_SPAWN_SETPGROUP: Int32 { fatalError() }
    public var POSIX_SPAWN_SETSIGMASK: Int32 { fatalError() }
    public var POSIX_SPAWN_SETSIGDEF: Int32 { fatalError() }
    public var POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 { fatalError() }
    @discardableResult public func posix_spawnp(
        _: UnsafeMutablePointer<pid_t>!, _: UnsafePointer<CChar>!, _: UnsafePointer<posix_spawn_file_actions_t?>!,
        _: UnsafePointer<posix_spawnattr_t?>!, _ __argv: UnsafePointer<UnsafeMutablePointer<CChar>?>!,
        _ __envp: UnsafePointer<UnsafeMutablePointer<CChar>?>!
    ) -> Int32 { fatalError() }
    @discardableResult public func posix_spawnattr_init(_: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 {
        fatalError()
    }
    @discardableResult public func posix_spawnattr_destroy(_: UnsafeMutablePointer<posix_spawnattr_t?>!) -> Int32 {
        fatalError()
    }
    @discardableResult public func posix_spawnattr_setflags(
        _: UnsafeMutablePointer<posix_spawnattr_t?>!, _: Int16
    ) -> Int32 { fatalError() }
    @discardableResult public func posix_spawnattr_setpgroup(
        _: UnsafeMutablePointer<posix_spawnattr_t?>!, _: pid_t
    ) -> Int32 { fatalError() }
    @discardableResult public func posix_spawnattr_setsigmask(
        _: UnsafeMutablePointer<posix_spawnattr_t?>!, _: UnsafePointer<sigset_t>!
    ) -> Int32 { fatalError() }
    @discardableResult public func posix_spawnattr_setsigdefault(
        _: UnsafeMutablePointer<posix_spawnattr_t?>!, _: UnsafePointer<sigset_t>!
    ) -> Int32 { fatalError() }
    @discardableResult public func posix_spawn_file_actions_init(
        _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!
    ) -> Int32 { fatalError() }
    @discardableResult public func posix_spawn_file_actions_destroy(
        _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!
    ) -> Int32 { fatalError() }
    @discardableResult public func posix_spawn_file_actions_addopen(
        _: UnsafeMutablePointer<posix_spawn_file_actions_t?>!, _: Int32, _: UnsafePointer<CChar>!, _: Int32, _: mode_t
    ) -> Int32 { fatalError() }
#endif

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/wait.2.html
// Always available.
@discardableResult public func waitpid(_: pid_t, _: UnsafeMutablePointer<Int32>!, _: Int32) -> pid_t { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/strdup.3.html
// Always available.
@discardableResult public func strdup(_ __s1: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/free.3.html
// Always available.
public func free(_: UnsafeMutableRawPointer!) { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man4/stdin.4.html
// Always available.
public var STDIN_FILENO: Int32 { fatalError() }
public var EMFILE: Int32 { fatalError() }
public var ENFILE: Int32 { fatalError() }
public var ENOMEM: Int32 { fatalError() }
