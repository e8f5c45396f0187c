#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A host whose servers must present one of the given certificates or public keys, in addition to passing the usual
/// checks.
public struct PinnedHost: Sendable, Hashable {
    /// The host in lower case, without a dot at its end.
    let host: String
    /// Whether the pins also apply to the subdomains, at every level.
    let includesSubdomains: Bool
    /// The pins, one of which must match.
    let pins: [TLSPin]
    /// The date from which the pins are no longer enforced.
    let expires: Date?

    /// Pins a host.
    ///
    /// Pin at least two keys, one of them a backup that is not in use yet: if the first is lost or replaced, installed
    /// apps still accept the server. With a single pin, set `expires`.
    /// - Parameters:
    ///   - host: A host name or IP address, without scheme and port; international names in Punycode.
    ///   - includesSubdomains: Whether the pins also apply to the subdomains. If several entries cover a host, the one
    ///     with the longest name decides.
    ///   - pins: The pins, one of which must match.
    ///   - expires: The date from which the pins are no longer enforced, so that an app that is no longer updated can
    ///     still connect. Certificates are still checked in the usual way.
    /// - Throws: ``TransportSettingsError/invalidPins(_:)`` if the host is not valid, there is no pin, or there is one
    ///   pin that does not expire.
    public init(
        _ host: String, includesSubdomains: Bool = false, pins: [TLSPin], expires: Date? = nil
    ) throws(TransportSettingsError) {
        guard let name = Self.normalized(host) else {
            throw .invalidPins("\"\(host.prefix(100))\" is not a host name or IP address.")
        }
        guard !pins.isEmpty else { throw .invalidPins("\(name) has no pins.") }
        guard pins.contains(where: { $0 != pins[0] }) || expires != nil else {
            throw .invalidPins("\(name) has one pin. Add a backup pin, or a date at which the pin expires.")
        }
        self.host = name
        self.includesSubdomains = includesSubdomains
        self.pins = pins
        self.expires = expires
    }

    /// The host, normalized for comparison; `nil` if it has characters that no encoded host has. Another spelling of a
    /// host, such as one with percent-encoding, must not evade its pins.
    static func normalized(_ host: some StringProtocol) -> String? {
        var name = host.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        if name.hasSuffix(".") { name.removeLast() }
        let isValid = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
        return isValid && !name.isEmpty && !name.hasPrefix(".") ? name : nil
    }

    /// - Parameter name: A normalized host.
    func covers(_ name: String) -> Bool {
        name == host || (includesSubdomains && name.hasSuffix("." + host))
    }

    /// Whether a server may present this certificate.
    func accepts(_ der: Data, at time: Date) -> Bool {
        if let expires, time >= expires { return true }
        guard let certificate = try? TLSCertificate(der: der) else { return false }
        return pins.contains { $0.matches(certificate) }
    }

    /// The error of a server that presents another certificate.
    var mismatch: TransportError {
        .tlsFailed("the server's certificate does not match a pin of \(host)")
    }
}
