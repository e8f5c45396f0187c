#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The scheme, host and port of a URL (RFC 6454). API requests carry the token only to the base URL's origin and to the
/// trusted origins.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    package let scheme: String
    /// The host in lower case; an IPv6 address is in brackets.
    let host: String
    /// The port; the default port of the scheme if the URL has none.
    let port: Int
    /// Whether the host is this machine: `localhost` or a name that ends in `.localhost`, `127.0.0.0/8`, or `[::1]`.
    package let isLoopback: Bool

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.isLoopback = Self.isLoopback(host)
    }

    /// The origin of a URL, or `nil` if it is not an `http` or `https` URL with a host.
    public init?(_ url: String) {
        guard case .success(let location) = Location.parse(url) else { return nil }
        self = location.origin
    }

    /// Whether requests to this origin are neither encrypted nor local: `http` to any host but this machine.
    package var isInsecure: Bool {
        scheme != "https" && !isLoopback
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// `https://api.example.com`, with the port if it is not the default port of the scheme.
    public var description: String {
        port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}
