extension DefaultRoutes {
    /// Whether there may be a default route. Always `true` on Apple platforms, where `URLSession` itself reports a
    /// missing network.
    static var mayExist: Bool {
        #if canImport(Network)
            true
        #else
            exist()
        #endif
    }
}

#if canImport(Network)
    enum DefaultRoutes {}
#else
    internal import MartletLibc

    /// The default routes in the kernel's tables. Without one, nothing leaves the local network.
    enum DefaultRoutes {
        /// Whether there is a default route; `true` if the tables cannot be read.
        static func exist() -> Bool {
            let (four, six) = (contents(of: "/proc/net/route"), contents(of: "/proc/net/ipv6_route"))
            if four == nil, six == nil { return true }
            return four.map(isInIPv4Table) == true || six.map(isInIPv6Table) == true
        }

        /// Whether the text of /proc/net/route has a default route:
        /// `Iface Destination Gateway Flags RefCnt Use Metric Mask …`.
        static func isInIPv4Table(_ text: String) -> Bool {
            text.split(separator: "\n").contains { line in
                let fields = line.split(whereSeparator: \.isWhitespace)
                return fields.count > 7 && isZero(fields[1]) && isZero(fields[7]) && isInUse(fields[3])
            }
        }

        /// Whether the text of /proc/net/ipv6_route has a default route: destination, length of its prefix, source,
        /// length of its prefix, next hop, metric, two counters, flags and device.
        static func isInIPv6Table(_ text: String) -> Bool {
            text.split(separator: "\n").contains { line in
                let fields = line.split(whereSeparator: \.isWhitespace)
                return fields.count > 9 && isZero(fields[0]) && isZero(fields[1]) && isInUse(fields[8])
                    && fields[9] != "lo"
            }
        }

        private static func isZero(_ field: Substring) -> Bool {
            !field.isEmpty && field.allSatisfy { $0 == "0" }
        }

        /// Whether the route is up and is not a reject route (`RTF_UP`, `RTF_REJECT`).
        private static func isInUse(_ flags: Substring) -> Bool {
            UInt32(flags, radix: 16).map { $0 & 0x1 != 0 && $0 & 0x200 == 0 } ?? false
        }

        private static func contents(of path: String) -> String? {
            let descriptor = System.open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { System.close(descriptor) }
            var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 8192))
            // The size of these files is not known in advance.
            while true {
                let count = System.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? nil : String(decoding: bytes, as: UTF8.self) }
                bytes += buffer[..<count]
            }
        }
    }
#endif
