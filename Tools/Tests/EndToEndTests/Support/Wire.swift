internal import Martlet
internal import Testing

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#else
    internal import Foundation
#endif

/// The transports that every test runs with.
enum Wire: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case asyncHTTPClient
    case urlSession

    var testDescription: String { rawValue }

    /// Creates a transport with its own connections.
    /// - Parameters:
    ///   - connections: The maximum number of connections to one host.
    ///   - authority: The PEM of a certificate authority to trust.
    func transport(connections: Int = 64, trusting authority: String? = nil, allowsHTTP2: Bool = true) throws
        -> any Transport
    {
        switch self {
        case .asyncHTTPClient:
            var tls = TLSSettings.system
            if let authority { tls.authorities = .only(try TLSCertificate.all(pem: authority)) }
            return try AsyncHTTPClientTransport(
                tls: tls, allowsHTTP2: allowsHTTP2, maximumConnectionsPerHost: connections)
        case .urlSession:
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = connections
            return URLSessionTransport(configuration: configuration)
        }
    }
}

/// A feature that a transport may lack on this platform. Tests that need it skip the transport.
enum Limitation: Sendable {
    /// FoundationNetworking has no challenge for server trust, so a test's authority cannot be trusted. On Apple's
    /// systems, `URLSessionTransport` has no setting for it.
    case trustingAnAuthority
    /// FoundationNetworking crashes ("no response" in `_NativeProtocol.transferCompleted`) if a server closes the
    /// connection in the middle of the response's head.
    case survivingHalfAHead
    /// FoundationNetworking has no back-pressure and takes up to a second to cancel. In that second, an endless
    /// response from this machine fills gigabytes of memory.
    case leavingAnEndlessResponse

    /// The transports that have the feature.
    var wires: [Wire] { Wire.allCases.filter { $0 != .urlSession || !isMissing } }

    private var isMissing: Bool {
        #if os(Linux)
            true
        #else
            self == .trustingAnAuthority
        #endif
    }
}
