internal import MartletLibc

/// Hosts that are reached without the proxy: an entry of `no_proxy`.
struct ProxyException: Sendable, Hashable {
    private enum Hosts: Hashable {
        case all
        /// A host with its subdomains, or an IP address.
        case name(String)
        /// The first bits of an IPv4 or IPv6 address.
        case network([UInt8], bits: Int)
    }

    private let hosts: Hosts
    private let port: Int?

    /// Parses an entry such as `*`, `example.com`, `.example.com`, `*.example.com`, `example.com:8080`, `127.0.0.1`,
    /// `::1`, `10.0.0.0/8` or `fd00::/8`.
    init(_ text: String) throws(TransportSettingsError) {
        if text == "*" {
            (hosts, port) = (.all, nil)
            return
        }
        if let slash = text.firstIndex(of: "/") {
            guard let address = Self.address(String(text[..<slash])), let bits = Int(text[text.index(after: slash)...]),
                (0...address.count * 8).contains(bits)
            else { throw Self.invalid(text) }
            (hosts, port) = (.network(address, bits: bits), nil)
            return
        }
        var name = text[...]
        if name.hasPrefix("*.") { name = name.dropFirst() }
        if name.hasPrefix(".") { name = name.dropFirst() }
        // More than one colon without brackets is an IPv6 address, which has no port.
        if !name.hasPrefix("["), name.count(where: { $0 == ":" }) > 1 {
            guard let address = PinnedHost.normalized(name) else { throw Self.invalid(text) }
            (hosts, port) = (.name(address), nil)
            return
        }
        guard let place = HostAndPort(name, defaultPort: 0) else { throw Self.invalid(text) }
        (hosts, port) = (.name(place.host), place.port == 0 ? nil : place.port)
    }

    /// - Parameter host: A normalized host.
    func covers(_ host: String, _ port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch hosts {
        case .all: return true
        case .name(let name): return host == name || host.hasSuffix("." + name)
        case .network(let network, let bits):
            guard let address = Self.address(host), address.count == network.count else { return false }
            return address.indices.allSatisfy { index in
                let free = 8 - min(max(bits - index * 8, 0), 8)
                return (address[index] ^ network[index]) >> UInt8(free) == 0
            }
        }
    }

    /// The domain with its subdomains; `nil` for other entries.
    var domain: String? {
        guard case .name(let name) = hosts, port == nil else { return nil }
        return name
    }

    private static func invalid(_ text: String) -> TransportSettingsError {
        .invalidProxy("\"\(text.prefix(100))\" is not a host that a proxy can be skipped for.")
    }

    /// The 4 or 16 bytes of an IP address.
    private static func address(_ text: String) -> [UInt8]? {
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: size)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
