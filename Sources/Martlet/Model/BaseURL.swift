#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Where an API lives: `"https://api.example.com/v1"`.
///
/// It takes a literal. One that is no good does not trap: the first call fails with
/// ``NetworkError/invalidRequest(_:_:)``, which says what is wrong with it.
public struct BaseURL: Sendable, Hashable, ExpressibleByStringLiteral {
    let text: String
    let location: Result<Location, RequestProblem>

    /// A base URL: scheme `http` or `https`, a host, and any path that all endpoints share.
    public init(_ text: String) {
        self.text = text
        self.location = Location.parse(text).flatMap { location in
            guard location.query == nil else {
                let shown = Redaction.redact(text)
                return .failure(RequestProblem("The base URL \"\(shown)\" has a query; give queries to endpoints."))
            }
            return .success(location)
        }
    }

    /// A base URL that is a `URL` already.
    public init(_ url: URL) {
        self.init(url.absoluteString)
    }

    /// A base URL as a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Path and query of a request below this URL, as they go on the wire.
    package func target(of path: String, query: Query) throws(RequestProblem) -> String {
        try location.get().appending(path: path, query: query).target
    }

    /// The origin that tokens may go to, if the URL is good.
    public var origin: Origin? {
        try? location.get().origin
    }
}

/// Scheme, host and port (RFC 6454): what decides whether a token may travel along.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case; an IPv6 address in its brackets.
    public let host: String
    /// The port, the scheme's own where the URL names none.
    public let port: Int
    /// Whether the host is this machine: `localhost`, `127.0.0.0/8` or `[::1]`.
    public let isLoopback: Bool

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.isLoopback = Self.isLoopback(host)
    }

    /// The origin of a URL, or `nil` if it is no `http` or `https` URL with a host.
    public init?(_ url: String) {
        guard case .success(let location) = Location.parse(url) else { return nil }
        self = location.origin
    }

    /// Whether what goes there can be read on the way: `http` to anything but this machine.
    public var isInsecure: Bool {
        scheme != "https" && !isLoopback
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// `https://api.example.com`, with the port where it is not the scheme's own.
    public var description: String {
        port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }
}

/// An absolute `http` or `https` URL in the parts that a request needs, parsed once.
struct Location: Sendable, Hashable {
    var origin: Origin
    /// Host and port as they go on the wire.
    var authority: String
    /// The encoded path; starts with a slash.
    var path: String
    /// The encoded query without its question mark.
    var query: String?

    /// Path and query as they go on the wire.
    var target: String {
        query.map { path + "?" + $0 } ?? path
    }

    static func parse(_ text: String) -> Result<Location, RequestProblem> {
        func problem(_ what: String) -> Result<Location, RequestProblem> {
            .failure(RequestProblem("\"\(Redaction.redact(String(text.prefix(200))))\" \(what)"))
        }
        guard let components = URLComponents(string: text), let scheme = components.scheme?.lowercased() else {
            return problem("is not an absolute URL; write it as https://host/path.")
        }
        guard scheme == "https" || scheme == "http" else { return problem("is neither http nor https.") }
        guard components.user == nil, components.password == nil else {
            return .failure(RequestProblem("A URL for \(components.host ?? "?") has a user name or password in it."))
        }
        guard var host = components.percentEncodedHost?.lowercased(), !host.isEmpty else {
            return problem("has no host.")
        }
        if host.contains(":"), !host.hasPrefix("[") { host = "[\(host)]" }
        guard isHost(host) else {
            return problem("has a host that no address can be looked up for; write other scripts as xn--….")
        }
        let standardPort = scheme == "https" ? 443 : 80
        // A port too large for an Int is no port to URLComponents, and must not become the standard one.
        guard let port = components.port ?? (namesPort(text) ? nil : standardPort), (1...65535).contains(port) else {
            return problem("has a port outside 1 to 65535.")
        }
        let origin = Origin(scheme: scheme, host: host, port: port)
        var path = components.percentEncodedPath
        if !path.hasPrefix("/") { path = "/" + path }
        return .success(
            Location(
                origin: origin,
                authority: port == standardPort ? host : "\(host):\(port)",
                path: path,
                query: components.percentEncodedQuery))
    }

    /// The place of an endpoint's path below this base. See ``Endpoint/path`` for the rules.
    func appending(path: String, query: Query) throws(RequestProblem) -> Location {
        var result = self
        if Self.isAbsolute(path) {
            result = try Location.parse(path).get()
        } else {
            guard !path.utf8.starts(with: "//".utf8) else {
                throw RequestProblem(
                    "The path \"\(Redaction.redact(path))\" starts with two slashes, which would name another host.")
            }
            guard !Self.hasDotSegments(path) else {
                throw RequestProblem(
                    "The path \"\(Redaction.redact(path))\" has . or .. segments, which could leave the base URL.")
            }
            let encoded = PercentEncoding.encodePath(path)
            let base = self.path.hasSuffix("/") ? String(self.path.dropLast()) : self.path
            result.path =
                encoded.isEmpty
                ? (base.isEmpty ? "/" : self.path) : base + (encoded.hasPrefix("/") ? "" : "/") + encoded
        }
        if !query.isEmpty {
            let own = result.query.flatMap { $0.isEmpty ? nil : $0 + "&" } ?? ""
            result.query = own + query.encoded
        }
        return result
    }

    private static func isHost(_ host: String) -> Bool {
        guard host.hasPrefix("[") else { return !host.utf8.contains(UInt8(ascii: "%")) }
        let address = host.dropFirst().prefix { $0 != "%" && $0 != "]" }
        return address.contains(":") && address.allSatisfy { ($0.isASCII && $0.isHexDigit) || $0 == ":" || $0 == "." }
    }

    private static func namesPort(_ url: String) -> Bool {
        let parts = url.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        let hostAndPort = (parts.last ?? Substring().utf8).prefix { !"/?#".utf8.contains($0) }
        guard let colon = hostAndPort.lastIndex(of: UInt8(ascii: ":")) else { return false }
        let port = hostAndPort[colon...].dropFirst()
        return !port.isEmpty && !port.contains(UInt8(ascii: "]"))
    }

    private static func isAbsolute(_ path: String) -> Bool {
        guard let colon = path.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = path[..<colon].lowercased()
        return (scheme == "http" || scheme == "https") && path[colon...].hasPrefix("://")
    }

    private static func hasDotSegments(_ path: String) -> Bool {
        guard path.utf8.contains(UInt8(ascii: ".")) || path.utf8.contains(UInt8(ascii: "%")) else { return false }
        // By bytes: a slash with a combining accent is one Character that equals no slash, yet it is one on the wire.
        // Servers disagree on whether an escaped or a back slash separates, so both count here; and some drop what
        // follows a semicolon before they look at the dots.
        return Array(PercentEncoding.decode(path).utf8)
            .split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
            .contains { segment in
                let name = segment.prefix { $0 != UInt8(ascii: ";") }
                return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
            }
    }
}
