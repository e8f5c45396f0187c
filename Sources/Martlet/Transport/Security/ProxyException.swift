/// Hosts that are reached without the proxy: an entry of `no_proxy`.
struct ProxyException: Sendable, Hashable {
    private enum Hosts: Hashable {
        case all
        /// A host with its subdomains, or an IP address.
        case name(String)
        case network(UInt32, mask: UInt32)
    }

    private let hosts: Hosts
    private let port: Int?

    /// Parses an entry such as `*`, `example.com`, `.example.com`, `*.example.com`, `example.com:8080`, `127.0.0.1`,
    /// `::1` or `10.0.0.0/8`.
    init(_ text: String) throws(TransportSettingsError) {
        if text == "*" {
            (hosts, port) = (.all, nil)
            return
        }
        if let slash = text.firstIndex(of: "/") {
            guard let address = Self.address(text[..<slash]), let size = Int(text[text.index(after: slash)...]),
                (0...32).contains(size)
            else { throw Self.invalid(text) }
            let mask = size == 0 ? 0 : UInt32.max << (32 - UInt32(size))
            (hosts, port) = (.network(address & mask, mask: mask), nil)
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
        case .network(let network, let mask): return Self.address(host[...]).map { $0 & mask == network } ?? false
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

    /// An IPv4 address.
    private static func address(_ text: Substring) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard let part else { return nil }
            address = address << 8 | UInt32(part)
        }
        return address
    }
}
