#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decides whether to accept a server's certificate, for a system that asks the transport.
struct ServerTrust: Sendable {
    /// The way in which the certificate of one host is checked.
    enum Judgement: Sendable, Equatable {
        /// The system decides alone.
        case system
        /// The system checks it with these authorities, or with its own if `anchors` is `nil`. Then
        /// ``verdict(isTrusted:leaf:for:at:)`` decides.
        case evaluate(anchors: [Data]?, onlyAnchors: Bool)
        /// The certificate is refused.
        case refuse
    }

    let settings: TLSSettings

    func judgement(for host: String) -> Judgement {
        guard let name = PinnedHost.normalized(host) else {
            return settings.pins.isEmpty && settings.authorities == .system ? .system : .refuse
        }
        switch settings.authorities {
        case .system:
            return settings.pinned(name) == nil ? .system : .evaluate(anchors: nil, onlyAnchors: false)
        case .systemAnd(let certificates):
            return .evaluate(anchors: certificates.map(\.der), onlyAnchors: false)
        case .only(let certificates):
            return .evaluate(anchors: certificates.map(\.der), onlyAnchors: true)
        }
    }

    /// The error that refuses the connection after the check; `nil` if the certificate is accepted.
    /// - Parameters:
    ///   - isTrusted: Whether the system accepts the chain of certificates.
    ///   - leaf: The server's own certificate in DER.
    func verdict(isTrusted: Bool, leaf: Data?, for host: String, at time: Date) -> TransportError? {
        guard isTrusted else { return .tlsFailed("the server's certificate is not trusted") }
        guard let name = PinnedHost.normalized(host), let pinned = settings.pinned(name) else { return nil }
        return pinned.accepts(leaf ?? Data(), at: time) ? nil : pinned.mismatch
    }
}
