#if !canImport(Network)
    internal import Dispatch
    internal import MartletLibc

    /// Reports whether the device has a network: once at the start, and whenever the kernel announces a change of
    /// links, addresses or routes (rtnetlink(7)), until this object is released.
    ///
    /// `@unchecked Sendable` is correct because the only use of the source is `cancel()`, which any thread may call.
    final class NetworkWatch: @unchecked Sendable {
        private let source: (any DispatchSourceRead)?

        init(_ report: @escaping @Sendable (Bool) -> Void) {
            let queue = BlockingQueue("martlet.connectivity")
            guard let socket = Self.open() else {
                source = nil
                queue.start { report(true) }
                return
            }
            let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue.queue)
            source.setEventHandler {
                Self.drain(socket)
                report(DefaultRoutes.exist())
            }
            source.setCancelHandler { System.close(socket) }
            self.source = source
            // Report only once the socket is open, so that no change is missed.
            queue.start { report(DefaultRoutes.exist()) }
            source.activate()
        }

        deinit { source?.cancel() }

        /// `struct sockaddr_nl` of <linux/netlink.h>, which the C library's module does not have.
        private struct Address {
            var family = UInt16(AF_NETLINK)
            var padding: UInt16 = 0
            var port: UInt32 = 0
            var groups: UInt32
        }

        /// A socket that receives the kernel's announcements; `nil` if the system does not allow one.
        private static func open() -> Int32? {
            #if canImport(Glibc)
                let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            #else
                let type = SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK
            #endif
            let protocolOfRoutes: Int32 = 0
            let descriptor = socket(AF_NETLINK, type, protocolOfRoutes)
            guard descriptor >= 0 else { return nil }
            // RTMGRP_LINK, and the addresses and routes of IPv4 and IPv6.
            var address = Address(groups: 0x1 | 0x10 | 0x40 | 0x100 | 0x400)
            let result = withUnsafeBytes(of: &address) { bytes in
                bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
            }
            guard result == 0 else {
                System.close(descriptor)
                return nil
            }
            return descriptor
        }

        /// Reads and discards all pending announcements. Their content does not matter, nor whether some were lost.
        private static func drain(_ socket: Int32) {
            var buffer = [UInt8](repeating: 0, count: 8192)
            while true {
                let count = System.read(socket, &buffer, buffer.count)
                guard count > 0 || count < 0 && (errno == EINTR || errno == ENOBUFS) else { return }
            }
        }
    }
#endif
