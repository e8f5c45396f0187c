@_exported public import _DarwinTypes

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/socket.2.html
// Always available.
public typealias socklen_t = UInt32
public typealias sa_family_t = UInt8
public typealias in_port_t = UInt16
public typealias in_addr_t = UInt32
public var AF_INET: Int32 { fatalError() }
public var AF_INET6: Int32 { fatalError() }
public var AF_UNIX: Int32 { fatalError() }
public var SOCK_STREAM: Int32 { fatalError() }
public func socket(_: Int32, _: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func socketpair(
    _: Int32, _: Int32, _: Int32, _: UnsafeMutablePointer<Int32>!
) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/bind.2.html
// Always available.
public struct sockaddr {
    public init() {}
}
public struct in_addr {
    public var s_addr: in_addr_t = 0
    public init() {}
}
public struct sockaddr_in {
    public var sin_len: UInt8 = 0
    public var sin_family: sa_family_t = 0
    public var sin_port: in_port_t = 0
    public var sin_addr = in_addr()
    public init() {}
}
@discardableResult public func bind(_: Int32, _: UnsafePointer<sockaddr>!, _: socklen_t) -> Int32 { fatalError() }
@discardableResult public func listen(_: Int32, _: Int32) -> Int32 { fatalError() }
@discardableResult public func getsockname(
    _: Int32, _: UnsafeMutablePointer<sockaddr>!, _: UnsafeMutablePointer<socklen_t>!
) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/accept.2.html
// Always available.
public func accept(
    _: Int32, _: UnsafeMutablePointer<sockaddr>!, _: UnsafeMutablePointer<socklen_t>!
) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/setsockopt.2.html
// Always available.
public var SOL_SOCKET: Int32 { fatalError() }
public var SO_REUSEADDR: Int32 { fatalError() }
public var SO_NOSIGPIPE: Int32 { fatalError() }
@discardableResult public func setsockopt(
    _: Int32, _: Int32, _: Int32, _: UnsafeRawPointer!, _: socklen_t
) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/recv.2.html
// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/send.2.html
// Always available.
public var MSG_DONTWAIT: Int32 { fatalError() }
@discardableResult public func recv(_: Int32, _: UnsafeMutableRawPointer!, _: Int, _: Int32) -> Int { fatalError() }
@discardableResult public func send(_: Int32, _: UnsafeRawPointer!, _: Int, _: Int32) -> Int { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/shutdown.2.html
// Always available.
public var SHUT_WR: Int32 { fatalError() }
@discardableResult public func shutdown(_: Int32, _: Int32) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/poll.2.html
// Always available.
public typealias nfds_t = UInt32
public var POLLIN: Int32 { fatalError() }
public var POLLOUT: Int32 { fatalError() }
public struct pollfd {
    public var fd: Int32
    public var events: Int16
    public var revents: Int16
    public init() { fatalError() }
    public init(fd: Int32, events: Int16, revents: Int16) { fatalError() }
}
@discardableResult public func poll(_: UnsafeMutablePointer<pollfd>!, _: nfds_t, _: Int32) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fcntl.2.html
// Always available.
public var F_GETFL: Int32 { fatalError() }
public var F_SETFL: Int32 { fatalError() }
public var F_SETFD: Int32 { fatalError() }
public var FD_CLOEXEC: Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/inet_pton.3.html
// Always available.
public func inet_pton(_: Int32, _: UnsafePointer<CChar>!, _: UnsafeMutableRawPointer!) -> Int32 { fatalError() }
