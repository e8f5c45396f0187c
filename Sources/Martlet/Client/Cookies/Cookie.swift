#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The current time on both clocks. `Expires` is a date, but the lifetime is measured in uptime, because the user may
/// change the wall clock.
struct CookieMoment {
    let uptime: Duration
    let date: Date

    init(_ time: any TimeSource) {
        (uptime, date) = (time.uptime, time.wallClock)
    }
}

/// A cookie that a server has set (RFC 6265, section 5.3).
struct Cookie: Sendable {
    let name: String
    let value: Secret
    let domain: String
    /// Whether only the host that has set the cookie gets it.
    let isHostOnly: Bool
    let path: String
    let isSecure: Bool
    /// The uptime at which the cookie expires; `nil` for one that lasts as long as its session.
    let expiresAt: Duration?
    /// Rises with each new cookie.
    var number = 0
    /// Rises with each use: with a response that sets the cookie, and a request that sends it.
    var lastUse = 0

    func isSame(as other: Cookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path && isHostOnly == other.isHostOnly
    }

    func isExpired(at now: Duration) -> Bool {
        expiresAt.map { $0 <= now } ?? false
    }

    /// Whether a request gets the cookie (section 5.4).
    func matches(_ origin: Origin, path target: String) -> Bool {
        guard !isSecure || !origin.isInsecure else { return false }
        let host = origin.host
        return (isHostOnly ? host == domain : Self.isHost(host, in: domain)) && Self.isPath(target, under: path)
    }

    /// Domain matching (section 5.1.3). An IP address matches only itself.
    static func isHost(_ host: String, in domain: String) -> Bool {
        host == domain || host.hasSuffix("." + domain) && !isAddress(host)
    }

    /// Path matching (section 5.1.4).
    static func isPath(_ target: String, under path: String) -> Bool {
        guard target.hasPrefix(path) else { return false }
        return target.utf8.count == path.utf8.count || path.hasSuffix("/")
            || target.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }

    private static func isAddress(_ host: String) -> Bool {
        host.hasPrefix("[") || host.split(separator: ".").last?.utf8.allSatisfy { (0x30...0x39).contains($0) } == true
    }
}

extension Cookie {
    private static let maximumLength = 4096
    private static let maximumAttributeLength = 1024

    /// Reads a `Set-Cookie` field (sections 5.2 and 5.3).
    /// - Parameters:
    ///   - text: The field, with one cookie.
    ///   - origin: The origin that has set it.
    ///   - target: The path of the request.
    ///   - moment: The current time on both clocks.
    /// - Returns: `nil` if the cookie must be ignored.
    init?(_ text: Substring, from origin: Origin, path target: String, at moment: CookieMoment) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard let (name, value) = parts.first.flatMap(Self.pair), let value, !name.isEmpty,
            name.utf8.count + value.utf8.count <= Self.maximumLength,
            !text.utf8.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 })
        else { return nil }
        let attributes = Self.attributes(parts.dropFirst())
        let isSecure = attributes["secure"] != nil
        guard !isSecure || !origin.isInsecure else { return nil }
        guard let (domain, isHostOnly) = Self.domain(attributes["domain"] ?? "", of: origin.host) else { return nil }
        let stated = attributes["path"] ?? ""
        let prefix = name.lowercased()
        if prefix.hasPrefix("__secure-"), !isSecure { return nil }
        if prefix.hasPrefix("__host-"), !isSecure || !(attributes["domain"] ?? "").isEmpty || stated != "/" {
            return nil
        }
        self.init(
            name: name, value: Secret(value), domain: domain, isHostOnly: isHostOnly,
            path: stated.hasPrefix("/") ? stated : Self.defaultPath(of: target), isSecure: isSecure,
            expiresAt: Self.expiry(attributes, at: moment))
    }

    /// Name and value; the value is `nil` without an equals sign.
    private static func pair(_ part: Substring) -> (String, String?)? {
        let name = part.prefix { $0 != "=" }
        let value = name.endIndex < part.endIndex ? part[part.index(after: name.endIndex)...].trimmingBlanks : nil
        return (name.trimmingBlanks, value)
    }

    /// The attributes by lowercase name. If a name repeats, the last one counts; an invalid `Max-Age` or `Expires` is
    /// ignored.
    private static func attributes(_ parts: ArraySlice<Substring>) -> [String: String] {
        var attributes: [String: String] = [:]
        for part in parts where part.utf8.count <= maximumAttributeLength {
            guard let (stated, value) = pair(part) else { continue }
            let name = stated.lowercased()
            if name == "max-age", maximumAge(value ?? "") == nil { continue }
            if name == "expires", CookieDate.parse((value ?? "")[...]) == nil { continue }
            attributes[name] = value ?? ""
        }
        return attributes
    }

    /// The seconds of a `Max-Age` (section 5.2.2); `nil` if it is invalid.
    private static func maximumAge(_ text: String) -> Duration? {
        guard let first = text.utf8.first else { return nil }
        let digits = first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        if first == UInt8(ascii: "-") || text == "0" { return .zero - longest }
        return CacheControl.seconds(text) ?? .zero
    }

    /// The longest life that browsers allow (RFC 6265bis, section 5.5).
    private static let longest = Duration.seconds(400 * 86400)

    /// The domain whose hosts get the cookie; `nil` if the cookie must be ignored. There is no list of public suffixes:
    /// only a domain without a dot counts as one.
    private static func domain(_ stated: String, of host: String) -> (String, isHostOnly: Bool)? {
        var domain = stated.lowercased()
        if domain.hasPrefix(".") { domain.removeFirst() }
        if domain.isEmpty { return (host, true) }
        // A final dot would make a top-level domain look like one of a site.
        guard isHost(host, in: domain), !domain.hasSuffix(".") else { return nil }
        if domain == host, !domain.contains(".") || isAddress(host) { return (host, true) }
        return domain.contains(".") ? (domain, false) : nil
    }

    /// The folder of the request (section 5.1.4).
    private static func defaultPath(of target: String) -> String {
        let folder = target.lastIndex(of: "/").map { target[..<$0] } ?? ""
        return folder.hasPrefix("/") ? String(folder) : "/"
    }

    /// `Max-Age` wins over `Expires`. An invalid attribute is ignored.
    private static func expiry(_ attributes: [String: String], at moment: CookieMoment) -> Duration? {
        if let age = attributes["max-age"].flatMap(maximumAge) {
            return age < .zero ? age : moment.uptime + min(age, longest)
        }
        guard let date = attributes["expires"].flatMap({ CookieDate.parse($0[...]) }) else { return nil }
        let remaining = Duration(untrusted: date.timeIntervalSince(moment.date)) ?? .zero
        return moment.uptime + min(remaining, longest)
    }
}
