/// The servers that a transport trusts, and the identity that it shows them.
///
/// ```swift
/// var tls = TLSSettings.system
/// tls.authorities = .only(try TLSCertificate.all(pem: companyRoot))
/// let transport = try AsyncHTTPClientTransport(tls: tls)
/// ```
public struct TLSSettings: Sendable {
    /// A version of TLS.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// The authorities whose certificates are trusted.
    public enum Authorities: Sendable, Hashable {
        /// The authorities of the system.
        case system
        /// The authorities of the system and these.
        case systemAnd([TLSCertificate])
        /// Only these, such as the authority of a company, or of your own servers.
        case only([TLSCertificate])
    }

    /// The system's authorities, TLS 1.2 or newer, and no client certificate.
    public static let system = TLSSettings()

    /// The oldest version of TLS that is used. Versions before 1.2 are deprecated (RFC 8996) and never used.
    public var minimumVersion = Version.tls12
    /// The authorities that are trusted.
    public var authorities = Authorities.system
    /// The certificate for servers that ask for one.
    public var identity: ClientIdentity?
    /// The hosts with pinned certificates or public keys. They apply to `https`, in addition to the check of the
    /// authority, host name and dates.
    public var pins: [PinnedHost] = []

    private init() {}

    /// Whether these settings change nothing.
    var isDefault: Bool {
        minimumVersion == .tls12 && authorities == .system && identity == nil && pins.isEmpty
    }

    /// - Throws: An error if the settings would trust no server or contradict each other.
    func validate() throws(TransportSettingsError) {
        switch authorities {
        case .only(let certificates) where certificates.isEmpty:
            throw .invalidCertificate("The list of trusted authorities is empty, so that no server is trusted.")
        default: break
        }
        var seen: Set<String> = []
        for pinned in pins where !seen.insert(pinned.host).inserted {
            throw .invalidPins("\(pinned.host) is pinned twice. Give all its pins in one entry.")
        }
    }

    /// The entry that decides for a host: the one with the longest name.
    /// - Parameter name: A normalized host.
    func pinned(_ name: String) -> PinnedHost? {
        pins.filter { $0.covers(name) }.max { $0.host.utf8.count < $1.host.utf8.count }
    }
}
